import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { SELF_SIGNED } from '../../support/self-signed.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const TIMEOUT_MS = 6_000;
const CONNECT_TIMEOUT_MS = 3_000;
const FIRST_WAIT = 10;
const SECOND_WAIT = 30;

/** Handles a connection as a receiver does, at the level of bytes. */
type Behaviour = (socket: Socket, requests: { count: number }) => void;

interface Expected {
  readonly status: 'DELIVERED' | 'PENDING' | 'FAILED';
  readonly code: number | null;
  readonly error: string | RegExp | null;
  readonly body?: string | RegExp | null;
  /** Seconds until the next attempt, if the schedule does not decide. */
  readonly wait?: readonly [min: number, max: number];
  readonly minDurationMs?: number;
}

/** Runs after the request and its body have arrived. */
function onRequest(socket: Socket, requests: { count: number }, work: () => void): void {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    const [head = '', body] = text.split('\r\n\r\n');
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.NaN);
    if (body === undefined || !(body.length >= length)) return;
    text = '';
    requests.count++;
    work();
  });
}

/** Answers every request with these bytes and closes. */
function answers(bytes: string | (() => string)): Behaviour {
  return (socket, requests) =>
    onRequest(socket, requests, () => socket.end(typeof bytes === 'string' ? bytes : bytes(), 'latin1'));
}

function response(status: string, headers: Record<string, string> = {}, body = ''): string {
  const all = { 'Content-Length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`;
}

/** Writes endlessly, as fast as the peer reads. */
function endless(socket: Socket, head: string, piece: string): void {
  socket.write(head);
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

const CLOSED = 'the receiver closed the connection before it answered';
const NOT_HTTP = 'the answer is not valid HTTP';
const TIMED_OUT = `timed out after ${TIMEOUT_MS / 1000} s`;
const pending = (code: number | null, error: string | RegExp, more: Partial<Expected> = {}): Expected => ({
  status: 'PENDING',
  code,
  error,
  body: code === null ? null : '',
  ...more,
});
const delivered = (code: number, body: string | RegExp = ''): Expected => ({
  status: 'DELIVERED',
  code,
  error: null,
  body,
});

/** Every way to receive a webhook badly, and some unusual ways to receive it well. */
const RECEIVERS: Readonly<Record<string, { behaviour: Behaviour; https?: true; expected: Expected }>> = {
  'resets the connection at once': {
    behaviour: (socket) => socket.resetAndDestroy(),
    expected: pending(null, CLOSED),
  },
  'resets the connection when it has the request': {
    behaviour: (socket, requests) => onRequest(socket, requests, () => socket.resetAndDestroy()),
    expected: pending(null, CLOSED),
  },
  'closes without an answer': { behaviour: answers(''), expected: pending(null, CLOSED) },
  'closes its half of the connection and goes on reading': {
    behaviour: (socket) => socket.resume().end(),
    expected: pending(null, CLOSED),
  },
  'closes in the middle of the status line': { behaviour: answers('HTTP/1.1 2'), expected: pending(null, CLOSED) },
  'closes in the middle of a header': {
    behaviour: answers('HTTP/1.1 200 OK\r\nContent-Le'),
    expected: pending(null, CLOSED),
  },
  'has a certificate that nobody vouches for': {
    behaviour: answers(response('200 OK')),
    https: true,
    expected: pending(null, 'TLS: self-signed certificate'),
  },
  'is asked for TLS and speaks HTTP': {
    behaviour: (socket) => socket.once('data', () => socket.end(response('400 Bad Request'))),
    expected: pending(null, /^TLS: [a-z ]+$/),
  },
  'is asked for TLS and says nothing': {
    behaviour: (socket) => socket.resume(),
    expected: pending(null, `could not connect within ${CONNECT_TIMEOUT_MS / 1000} s`, {
      minDurationMs: CONNECT_TIMEOUT_MS - 50,
    }),
  },
  'never answers': {
    behaviour: (socket) => socket.resume(),
    expected: pending(null, TIMED_OUT, { minDurationMs: TIMEOUT_MS - 20 }),
  },
  'sends its headers a byte at a time': {
    behaviour: (socket, requests) =>
      onRequest(socket, requests, () => {
        const bytes = [...`HTTP/1.1 200 OK\r\nX-Slow: ${'x'.repeat(1000)}`];
        const timer = setInterval(() => socket.write(bytes.shift() ?? ''), 20);
        socket.on('close', () => clearInterval(timer));
      }),
    expected: pending(null, TIMED_OUT, { minDurationMs: TIMEOUT_MS - 20 }),
  },
  'never ends its headers': {
    behaviour: (socket, requests) =>
      onRequest(socket, requests, () => endless(socket, 'HTTP/1.1 200 OK\r\n', `X-More: ${'x'.repeat(1000)}\r\n`)),
    expected: pending(null, 'the headers of the answer are too large'),
  },
  'never ends its interim answers': {
    behaviour: (socket, requests) =>
      onRequest(socket, requests, () => endless(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n')),
    expected: pending(null, 'the receiver sent 128 KiB and no answer'),
  },
  'answers 100 and no more': {
    behaviour: answers('HTTP/1.1 100 Continue\r\n\r\n'),
    expected: pending(null, 'the receiver closed the connection before it answered'),
  },
  'answers 101': {
    behaviour: answers('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
    expected: pending(null, 'the receiver answered HTTP 101, which it was not asked for'),
  },
  'speaks another protocol': {
    behaviour: (socket) => socket.resume().end('SSH-2.0-OpenSSH_9.6\r\n'),
    expected: pending(null, NOT_HTTP),
  },
  'answers bytes': { behaviour: answers('\x00\x01\xff\xfe garbage \r\n\r\n'), expected: pending(null, NOT_HTTP) },
  'answers with a line feed in a header’s name': {
    behaviour: answers('HTTP/1.1 200 OK\r\nX-\nY: z\r\n\r\n'),
    expected: pending(null, NOT_HTTP),
  },
  'answers with two lengths': {
    behaviour: answers('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok'),
    expected: pending(null, NOT_HTTP),
  },
  'answers 301': {
    behaviour: answers(response('301 Moved Permanently', { Location: 'http://169.254.169.254/' })),
    expected: pending(301, 'HTTP 301: redirects are not followed'),
  },
  'answers 307 to itself': {
    behaviour: answers(response('307 Temporary Redirect', { Location: '/' })),
    expected: pending(307, 'HTTP 307: redirects are not followed'),
  },
  'answers 304': { behaviour: answers('HTTP/1.1 304 Not Modified\r\n\r\n'), expected: pending(304, /^HTTP 304/) },
  'answers 400 and why': {
    behaviour: answers(response('400 Bad Request', {}, '{"error":"bad signature"}')),
    expected: pending(400, 'HTTP 400', { body: '{"error":"bad signature"}' }),
  },
  'answers 410': {
    behaviour: answers(response('410 Gone')),
    expected: { status: 'FAILED', code: 410, error: 'HTTP 410', body: '' },
  },
  'answers 429': {
    behaviour: answers(response('429 Too Many Requests')),
    expected: pending(429, 'HTTP 429'),
  },
  'answers 429 with seconds': {
    behaviour: answers(response('429 Too Many Requests', { 'Retry-After': '15' })),
    expected: pending(429, 'HTTP 429', { wait: [15, 15] }),
  },
  'answers 429 with too many seconds': {
    behaviour: answers(response('429 Too Many Requests', { 'Retry-After': '86400' })),
    expected: pending(429, 'HTTP 429', { wait: [2 * FIRST_WAIT, 2 * FIRST_WAIT] }),
  },
  'answers 429 with a date': {
    behaviour: answers(() =>
      response('429 Too Many Requests', { 'Retry-After': new Date(Date.now() + 3_600_000).toUTCString() }),
    ),
    expected: pending(429, 'HTTP 429', { wait: [2 * FIRST_WAIT, 2 * FIRST_WAIT] }),
  },
  'answers 503 with seconds': {
    behaviour: answers(response('503 Service Unavailable', { 'Retry-After': '18' })),
    expected: pending(503, 'HTTP 503', { wait: [18, 18] }),
  },
  'answers 429 with nonsense': {
    behaviour: answers(response('429 Too Many Requests', { 'Retry-After': '-5 soon' })),
    expected: pending(429, 'HTTP 429'),
  },
  'answers 500': {
    behaviour: answers(response('500 Internal Server Error', { 'Retry-After': '18' })),
    expected: pending(500, 'HTTP 500'),
  },
  'answers 500 with bytes that are no text': {
    behaviour: answers('HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\na\x00\xffb'),
    expected: pending(500, 'HTTP 500', { body: 'a\uFFFD\uFFFDb' }),
  },
  'answers 500 without an end': {
    behaviour: (socket, requests) =>
      onRequest(socket, requests, () => endless(socket, 'HTTP/1.1 500 No\r\n\r\n', 'x'.repeat(4096))),
    expected: pending(500, 'HTTP 500', { body: /^x{8192}$/ }),
  },
  'answers a status that there is not': {
    behaviour: answers(response('999 What')),
    expected: pending(999, 'HTTP 999'),
  },

  'takes it and never ends its answer': {
    behaviour: (socket, requests) =>
      onRequest(socket, requests, () => endless(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(4096))),
    expected: delivered(200, /^x{8192}$/),
  },
  'takes it and stops in the middle of its answer': {
    behaviour: (socket, requests) =>
      onRequest(socket, requests, () => void socket.write(response('200 OK', { 'Content-Length': '100' }, 'part'))),
    expected: { ...delivered(200, 'part'), minDurationMs: TIMEOUT_MS - 20 },
  },
  'takes it and breaks off its answer': {
    behaviour: answers(response('200 OK', { 'Content-Length': '100' }, 'part')),
    expected: delivered(200, 'part'),
  },
  'takes it with 204': { behaviour: answers('HTTP/1.1 204 No Content\r\n\r\n'), expected: delivered(204) },
  'takes it in HTTP/1.0': { behaviour: answers('HTTP/1.0 200 OK\r\n\r\nok'), expected: delivered(200, 'ok') },
  'takes it after interim answers': {
    behaviour: answers(
      `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${response('200 OK', {}, 'ok')}`,
    ),
    expected: delivered(200, 'ok'),
  },
  'takes it in pieces': {
    behaviour: (socket, requests) =>
      onRequest(socket, requests, () => {
        const bytes = [...'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'];
        const timer = setInterval(() => (bytes.length > 0 ? socket.write(bytes.shift() ?? '') : socket.end()), 1);
        socket.on('close', () => clearInterval(timer));
      }),
    expected: delivered(200, 'ok'),
  },
};

/** Receivers that get a TLS connection without speaking TLS. */
const ASKED_FOR_TLS = ['is asked for TLS and speaks HTTP', 'is asked for TLS and says nothing'];
const REFUSING = 'refuses connections';
const ABSENT = 'has a name that does not exist';
const FORBIDDEN = 'is where webhooks never go';
const OTHERS: Readonly<Record<string, Expected>> = {
  [REFUSING]: pending(null, 'connection refused'),
  [ABSENT]: pending(null, /^the host name (does not exist|could not be resolved)$/),
  [FORBIDDEN]: pending(null, 'the URL must not have a cloud metadata address'),
};

const EXPECTED: Readonly<Record<string, Expected>> = {
  ...Object.fromEntries(Object.entries(RECEIVERS).map(([name, { expected }]) => [name, expected])),
  ...OTHERS,
};

interface DeliveryRow extends Record<string, unknown> {
  id: string;
  url: string;
  status: string;
  attempts: number;
  next_attempt_at: Date | null;
  last_status_code: number | null;
  last_error: string | null;
  updated_at: Date;
  attempt_status: number | null;
  attempt_error: string | null;
  response_body: string | null;
  duration_ms: number;
}

describe('a receiver that', () => {
  let service: TestService;
  let merchant: Merchant;
  let good: WebhookReceiver;
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const urls = new Map<string, string>();
  const requests = new Map<string, { count: number }>();
  let first: Map<string, DeliveryRow>;

  async function listen(name: string, behaviour: Behaviour, tls: boolean): Promise<number> {
    const seen = { count: 0 };
    requests.set(name, seen);
    const serve = (socket: Socket): void => behaviour(socket, seen);
    const server = tls ? createTlsServer(SELF_SIGNED, serve) : createServer({ allowHalfOpen: true }, serve);
    server.on('tlsClientError', () => undefined);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  /** The deliveries of the merchant's one charge by the name of their receiver, with their latest attempts. */
  async function deliveries(): Promise<Map<string, DeliveryRow>> {
    const rows = await service.sql<DeliveryRow>(
      `SELECT d.*, e.url, a.status_code AS attempt_status, a.error AS attempt_error, a.response_body, a.duration_ms
       FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id
       LEFT JOIN webhook_attempts a ON a.delivery_id = d.id AND a.number = d.attempts
       WHERE d.account_id = $1`,
      [merchant.accountId],
    );
    const names = new Map([...urls].map(([name, url]) => [url, name]));
    return new Map(rows.map((row) => [names.get(row.url) ?? 'good', row]));
  }

  function afterAttempt(number: number): Promise<Map<string, DeliveryRow>> {
    const isThrough = ({ status, attempts }: DeliveryRow): boolean =>
      status === 'DELIVERED' || status === 'FAILED' || (status === 'PENDING' && attempts === number);
    return waitFor(
      `attempt ${number} of every delivery`,
      async () => {
        const found = await deliveries();
        return found.size === urls.size + 1 && [...found.values()].every(isThrough) ? found : null;
      },
      60_000,
    );
  }

  async function register(url: string): Promise<string> {
    const { status, body } = await service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', {
      key: merchant.testKey,
      body: { url, events: ['charge.created'] },
    });
    expect(status).toBe(201);
    return body.id.replace('wh_', '');
  }

  /** Seconds from the end of the attempt */
  function waitOf({ next_attempt_at: next, updated_at: ended }: DeliveryRow): number {
    return ((next?.getTime() ?? Number.NaN) - ended.getTime()) / 1000;
  }

  beforeAll(async () => {
    service = await TestService.start({
      env: {
        WEBHOOK_RETRY_SCHEDULE: `${FIRST_WAIT},${SECOND_WAIT},120`,
        WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS),
        WEBHOOK_CONNECT_TIMEOUT_MS: String(CONNECT_TIMEOUT_MS),
      },
    });
    merchant = await service.merchant();
    good = await WebhookReceiver.start();
    for (const [name, { behaviour, https }] of Object.entries(RECEIVERS)) {
      const port = await listen(name, behaviour, https === true);
      const scheme = https === true || ASKED_FOR_TLS.includes(name) ? 'https' : 'http';
      urls.set(name, `${scheme}://127.0.0.1:${port}/`);
    }
    const port = await listen(REFUSING, () => undefined, false);
    await new Promise((resolve) => servers.pop()?.close(resolve));
    urls.set(REFUSING, `http://127.0.0.1:${port}/`);
    urls.set(ABSENT, 'http://receiver.invalid/');
    for (const url of urls.values()) await register(url);
    await register(good.url);
    // Registered when other rules applied.
    urls.set(FORBIDDEN, 'http://169.254.169.254/latest/meta-data');
    await service.sql('UPDATE webhook_endpoints SET url = $2 WHERE id = $1', [
      await register('http://later.invalid/'),
      urls.get(FORBIDDEN),
    ]);
    await service.createCharge(merchant.testKey);
    first = await afterAttempt(1);
  });

  afterAll(async () => {
    await expectLedgerCoherent(service.database.url);
    await service.stop();
    await good.stop();
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  });

  it.each(Object.keys(EXPECTED))('%s has the cause in its record, and the next attempt on schedule', (name) => {
    const row = first.get(name);
    const expected = EXPECTED[name];
    if (!row || !expected) throw new Error(`no delivery to the receiver that ${name}`);
    const is = (pattern: string | RegExp | null | undefined): unknown =>
      pattern instanceof RegExp ? expect.stringMatching(pattern) : pattern;
    expect(row).toMatchObject({
      status: expected.status,
      attempts: 1,
      last_status_code: expected.code,
      last_error: is(expected.error),
      attempt_status: expected.code,
      attempt_error: is(expected.error),
      response_body: is(expected.body),
    });
    expect(row.duration_ms).toBeGreaterThanOrEqual(expected.minDurationMs ?? 0);
    if (expected.status !== 'PENDING') {
      expect(row.next_attempt_at).toBeNull();
      return;
    }
    const [min, max] = expected.wait ?? [FIRST_WAIT * 0.9, FIRST_WAIT * 1.1];
    expect(waitOf(row)).toBeGreaterThanOrEqual(min);
    expect(waitOf(row)).toBeLessThanOrEqual(max);
  });

  it('is called once in an attempt: no redirect is followed, no request repeated', () => {
    for (const [name, { count }] of requests) {
      if (count > 1) throw new Error(`the receiver that ${name} was asked ${count} times`);
    }
    expect(requests.get('answers 307 to itself')?.count).toBe(1);
    expect(requests.get('answers 500')?.count).toBe(1);
  });

  it('works gets its webhook beside the failing ones', async () => {
    expect(good.received).toHaveLength(1);
    const row = first.get('good');
    expect(row).toMatchObject({ status: 'DELIVERED', attempts: 1 });
    // Attempts that began with it run until their limit.
    expect(row?.updated_at.getTime()).toBeLessThan(first.get('never answers')?.updated_at.getTime() ?? 0);
  });

  it('is gone for good is not called again, while the others are, on the schedule', async () => {
    service.clock.advance(2 * FIRST_WAIT + 1);
    const second = await afterAttempt(2);
    for (const [name, expected] of Object.entries(EXPECTED)) {
      const row = second.get(name);
      expect({ name, status: row?.status, error: row?.last_error }).toEqual({
        name,
        status: expected.status,
        error: first.get(name)?.last_error,
      });
      expect({ name, attempts: row?.attempts }).toEqual({ name, attempts: expected.status === 'PENDING' ? 2 : 1 });
      if (!row || expected.status !== 'PENDING' || expected.wait) continue;
      expect(waitOf(row)).toBeGreaterThanOrEqual(SECOND_WAIT * 0.9);
      expect(waitOf(row)).toBeLessThanOrEqual(SECOND_WAIT * 1.1);
    }
    const gone = await service.sql('SELECT status FROM webhook_endpoints WHERE url = $1', [urls.get('answers 410')]);
    expect(gone).toEqual([{ status: 'INACTIVE' }]);
    expect(await service.sql(`SELECT 1 FROM webhook_endpoints WHERE status = 'INACTIVE'`)).toHaveLength(1);
  });
});
