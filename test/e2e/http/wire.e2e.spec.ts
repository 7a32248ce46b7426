import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

let database: TestDatabase;
let service: TestService;
let merchant: Merchant;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await TestService.start({ database });
  merchant = await service.merchant();
});
afterAll(async () => {
  await service.stop();
  await database.drop();
});

/** A raw connection for requests that a client library cannot send, or not in this order. */
class Wire {
  text = '';
  isClosed = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (part: Buffer) => (this.text += part.toString('latin1')));
    socket.on('close', () => (this.isClosed = true)).on('error', () => undefined);
  }

  static async open({ url }: TestService): Promise<Wire> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const wire = new Wire(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
    return wire;
  }

  static async send(...parts: (string | Buffer)[]): Promise<Wire> {
    const wire = await Wire.open(service);
    for (const part of parts) wire.socket.write(part);
    return wire;
  }

  /** Returns the answer as on the wire, as soon as it is complete. */
  answer(end: RegExp): Promise<string> {
    return waitFor(`${String(end)} on the wire`, () => end.test(this.text) && this.text);
  }

  closed(): Promise<boolean> {
    return waitFor('the connection to be closed', () => this.isClosed);
  }
}

function create(key: string, length: number): string {
  return [
    'POST /v1/charges HTTP/1.1',
    'Host: pay.example.com',
    `apikey: ${key}`,
    `Idempotency-Key: ${randomUUID()}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    '\r\n',
  ].join('\r\n');
}

describe('bytes that form no request', () => {
  it.each([
    ['400', 'no such thing\r\n\r\n'],
    ['400', 'GET /health/live HTTP/1.1\r\n\r\n'],
    ['400', 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'],
    ['431', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('get a %s in the envelope, with its id', async (status, sent) => {
    const wire = await Wire.send(sent);
    const text = await wire.answer(/\}$/);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const id = /X-Request-Id: (req_[0-9a-f]{32})\r\n/.exec(text)?.[1];
    expect(text).toContain('X-Api-Version: 2026-11-01\r\n');
    expect(text).toContain(`"request_id":"${String(id)}"`);
    await wire.closed();
  });
});

describe('an address', () => {
  it('may be absolute, as proxies send it, and is checked as strictly', async () => {
    const wire = await Wire.send(
      'GET http://pay.example.com/health/live HTTP/1.1\r\nHost: x\r\n\r\n',
      `GET http://pay.example.com/v1/wallets?nobody=1 HTTP/1.1\r\nHost: x\r\napikey: ${merchant.testKey}\r\n\r\n`,
      'GET http://pay.example.com HTTP/1.1\r\nHost: x\r\n\r\n',
    );
    const text = await wire.answer(/No such route.*\}$/s);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400', 'HTTP/1.1 404']);
    wire.socket.destroy();
  });

  it('has 64 parameters at most, all of them checked; more are refused to every caller', async () => {
    const query = `${'limit=1&'.repeat(63)}nobody=1`;
    const answer = await service.call('GET', `/v1/payments?${query}`, { key: merchant.testKey });
    expect(answer.body).toMatchObject({
      error: { details: expect.arrayContaining([expect.objectContaining({ param: 'nobody', code: 'unknown_field' })]) },
    });
    for (const path of ['/v1/payments', '/checkout/nobody', '/nowhere']) {
      const refused = await service.call('GET', `${path}?limit=1&${query}`, { key: merchant.testKey });
      expect([refused.status, refused.body]).toMatchObject([
        400,
        { error: { code: 'invalid_request', message: 'An address has at most 64 parameters.' } },
      ]);
    }
  });
});

describe('an unknown expectation', () => {
  it('is ignored: the request is answered like any other', async () => {
    const wire = await Wire.send('GET /health/live HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n');
    expect(await wire.answer(/"up"\}$/)).toMatch(/^HTTP\/1\.1 200/);
    for (let n = 0; n < 6; n++) wire.socket.write('GET /v1/wallets HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n');
    expect(await wire.closed()).toBe(true);
    expect(wire.text).not.toMatch(/HTTP\/1\.1 417/);
  });
});

describe('an answer', () => {
  it('does not name its server, and is whole whatever a browser claims to have cached', async () => {
    for (const path of ['/v1/wallets', '/health/live', '/no-such-route']) {
      const { status, headers, text } = await service.call('GET', path, {
        key: merchant.testKey,
        headers: { 'If-None-Match': '*' },
      });
      expect([path, status]).toEqual([path, path === '/no-such-route' ? 404 : 200]);
      expect(text).not.toBe('');
      for (const name of ['x-powered-by', 'etag', 'server']) expect(headers.get(name)).toBeNull();
    }
  });
});

describe('a connection on which too little comes', () => {
  it('is closed silently without a request, and with a 408 after half a request', async () => {
    const server = service.runtime.app.getHttpServer();
    expect(server.headersTimeout).toBe(10_000);
    server.headersTimeout = 100;
    try {
      const ahead = await Wire.open(service);
      const half = await Wire.send('GET /health/live HTTP/1.1\r\nHo');
      // The server checks its connections every five seconds.
      for (const { isClosed } of [ahead, half]) expect(isClosed).toBe(false);
      await Promise.all([ahead, half].map((wire) => waitFor('the end', () => wire.isClosed)));
      // A browser would take any answer here for the answer to its next request.
      expect(ahead.text).toBe('');
      expect(half.text).toMatch(/^HTTP\/1\.1 408 [\s\S]*"message":"The request did not come within the time for it\."/);
    } finally {
      server.headersTimeout = 10_000;
    }
  });
});

describe('an answer that nobody reads', () => {
  it('is cut off, like an answer that takes too long', async () => {
    const server = service.runtime.app.getHttpServer();
    expect(server.timeout).toBe(60_000);
    server.timeout = 300;
    const closed = new Promise<void>((resolve) => {
      server.once('connection', (socket: Socket) => socket.once('close', () => resolve()));
    });
    try {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.pause();
      socket.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
      await closed;
      socket.destroy();
    } finally {
      server.timeout = 60_000;
    }
  });
});

describe('requests that do not wait for answers', () => {
  it('are four at most; a client that sends more is cut off', async () => {
    const request = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
    const few = await Wire.open(service);
    few.socket.write(request.repeat(4));
    await waitFor('four answers', () => few.text.split('HTTP/1.1 200').length === 5);
    few.socket.write(request.repeat(4));
    await waitFor('four more', () => few.text.split('HTTP/1.1 200').length === 9);
    few.socket.destroy();
    const many = await Wire.open(service);
    many.socket.write(request.repeat(40));
    await waitFor('the end', () => many.isClosed);
    expect(many.text.split('HTTP/1.1 200').length).toBeLessThan(10);
  });

  it('delay no other read of their account, however long the answer before them takes', async () => {
    const limited = await TestService.start({ database, env: { RATE_LIMIT: 'on', RATE_LIMIT_BURST: '1000' } });
    try {
      for (const behind of ['HEAD /v1/events/stream', 'GET /v1/charges/unknown', 'GET /v1/wallets']) {
        const wire = await Wire.open(limited);
        const ask = (what: string): string => `${what} HTTP/1.1\r\nHost: x\r\napikey: ${merchant.testKey}\r\n\r\n`;
        wire.socket.write(`${ask('GET /v1/events/stream')}${ask(behind).repeat(3)}`);
        await wire.answer(/retry: /);
        for (let n = 0; n < 4; n++) {
          expect((await limited.call('GET', '/v1/wallets', { key: merchant.testKey })).status).toBe(200);
        }
        // The stream lasts a minute, and its end is an empty chunk.
        expect([wire.isClosed, wire.text.endsWith('\r\n0\r\n\r\n')]).toEqual([false, false]);
        expect(wire.text.split('HTTP/1.1 ')).toHaveLength(2);
        wire.socket.destroy();
      }
    } finally {
      await limited.stop();
    }
  });
});

describe('bytes that are no part of a request', () => {
  const LIVE = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
  const POSTED = 'POST /v1/charges HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
  const CHUNKED = 'POST /v1/charges HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';

  it.each([
    ['blank lines before the first request', '', '\r\n'],
    ['blank lines after a request', LIVE, '\r\n'],
    ['blank lines after a request with a body', POSTED, '\r\n'],
    ['blanks before an address', `${LIVE}GET `, ' '],
    ['blanks before the value of a header', `${LIVE}GET /health/live HTTP/1.1\r\nHost:`, ' '],
    ['the value of a header', 'GET /health/live HTTP/1.1\r\nHost: ', 'x'],
    ['a method', LIVE, 'X'],
    ['a chunk extension', `${CHUNKED}1`, ';x=y'],
    ['the zeros of a chunk size', CHUNKED, '0'],
    ['trailers', `${CHUNKED}0\r\n`, 'A: b\r\n'],
  ])('end their connection if they never end: %s', async (_name, start, piece) => {
    const accepted = new Promise<Socket>((resolve) => {
      service.runtime.app.getHttpServer().once('connection', resolve);
    });
    const wire = await Wire.send(start);
    const block = piece.repeat(Math.ceil(16_384 / piece.length));
    const more = (): void => {
      while (!wire.isClosed && wire.socket.write(block));
    };
    wire.socket.on('drain', more);
    more();
    const server = await accepted;
    await waitFor('the connection to be closed', () => server.closed);
    // Up to two reads of a socket beyond the limit; a chunked body may have 20 MiB.
    const limit = start.includes('chunked') ? 20 * 1024 * 1024 : 65_536;
    expect(server.bytesRead).toBeLessThanOrEqual(limit + 2 * 65_536);
    wire.socket.destroy();
  });

  it('are counted separately from requests, however many and wherever requests are cut', async () => {
    const wire = await Wire.open(service);
    const body = JSON.stringify({ amount: 1990, description: ' '.repeat(60_000) });
    const post = create(merchant.testKey, body.length) + body;
    for (let round = 0; round < 12; round++) {
      const before = wire.text.length;
      const request = round % 2 === 0 ? post : LIVE;
      wire.socket.write(request.slice(0, 10));
      await delay(5);
      wire.socket.write(request.slice(10, 90));
      await delay(5);
      wire.socket.write(request.slice(90));
      await waitFor('the answer', () => /\}$/.test(wire.text.slice(before)));
      wire.socket.write('\r\n');
    }
    expect(wire.isClosed).toBe(false);
    wire.socket.destroy();
  });
});

describe('the page of the documentation', () => {
  it('requests the document, and does not contain it', async () => {
    const { text } = await service.call('GET', '/docs/swagger-ui-init.js');
    expect(text).toContain("url: '/openapi.json'");
    expect(text.length).toBeLessThan(1_000);
  });
});

describe('the OpenAPI document', () => {
  it('is not sent again to a client that has it', async () => {
    const first = await service.call('GET', '/openapi.json');
    const etag = first.headers.get('etag') ?? '';
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    const again = await service.call('GET', '/openapi.json', { headers: { 'If-None-Match': etag } });
    expect([again.status, again.text]).toEqual([304, '']);
    const other = await service.call('GET', '/openapi.json', { headers: { 'If-None-Match': '"other"' } });
    expect([other.status, other.text]).toEqual([200, first.text]);
  });
});

describe('a client that is refused while still sending', () => {
  it('gets the reason at once, and may go on for a while', async () => {
    const head = create('ak_test_unknown', 1_000_000).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    const wire = await Wire.send(head, Buffer.alloc(500_000, 'x'));
    expect(await wire.answer(/\}$/)).toMatch(/^HTTP\/1\.1 401 .*\r\nConnection: close\r\n/s);
    // Closed now, the answer would be lost together with unread bytes.
    await delay(100);
    expect(wire.isClosed).toBe(false);
    wire.socket.write(Buffer.alloc(500_000, 'x'));
    await wire.closed();
  });

  it('is cut off after a while', async () => {
    const wire = await Wire.send(create('ak_test_unknown', 40_000_000), Buffer.alloc(20_000_000, 'x'));
    await wire.closed();
  });
});

describe('half of a body', () => {
  it('gives no access to a member who was removed while the rest of the body was missing', async () => {
    const owner = await service.login(merchant.ownerEmail);
    const begin = (path: string, caller: string, body: string): Promise<Wire> => {
      const length = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
      return Wire.send(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nIdempotency-Key: half-a-body\r\n${caller}\r\n${length}\r\n{`,
      );
    };
    const [admin, demoted] = [
      await service.member(merchant.accountId, 'ADMIN'),
      await service.member(merchant.accountId, 'ADMIN'),
    ];
    const other = await service.merchant();
    const issue = JSON.stringify({ test: true });
    const charge = JSON.stringify({ amount: 100, payment_method: 'pix' });
    const bearer = (token: string): string => `Authorization: Bearer ${token}`;
    const { body: issued } = await service.call<{ id: string; apiKey: string }>('POST', '/v1/api-keys', {
      token: owner,
      body: { test: true },
    });
    const begun = await Promise.all([
      begin('/v1/api-keys', bearer(admin.token), issue),
      begin('/v1/dashboard/test/charges', bearer(admin.token), charge),
      begin('/v1/api-keys', bearer(demoted.token), issue),
      begin('/v1/charges', `apikey: ${issued.apiKey}`, charge),
      begin('/v1/charges', `apikey: ${other.testKey}`, charge),
    ]);
    await delay(500);
    await service.call('DELETE', `/v1/members/${admin.userId}`, { token: owner });
    await service.call('PATCH', `/v1/members/${demoted.userId}`, { token: owner, body: { role: 'MEMBER' } });
    await service.call('DELETE', `/v1/api-keys/${issued.id}`, { token: owner });
    await service.sql('UPDATE accounts SET suspended = true WHERE id = $1', [other.accountId]);
    const bodies = [issue, charge, issue, charge, charge];
    begun.forEach((wire, at) => wire.socket.write((bodies[at] ?? '').slice(1)));
    const answers = await Promise.all(begun.map((wire) => wire.answer(/\}$/)));
    expect(answers.map((text) => text.slice(9, 12))).toEqual(['401', '401', '403', '401', '403']);
    for (const wire of begun) wire.socket.destroy();
  });

  it('from a client with a key is waited for 10 s, and from a thousand other clients not at all', async () => {
    const read = async (): Promise<number> =>
      (await service.call('GET', '/v1/wallets', { key: merchant.testKey })).status;
    const sockets = (): Promise<number> =>
      new Promise((resolve, reject) => {
        const server = service.runtime.app.getHttpServer();
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      });
    await read();
    const before = await sockets();
    const strangers = await Promise.all(
      Array.from({ length: 400 }, () => Wire.send(create('ak_test_unknown', 60_000), Buffer.alloc(30_000, 'x'))),
    );
    const headers = await Wire.send('POST /v1/charges HTTP/1.1\r\nHost: x\r\n');
    await Promise.all(strangers.map((wire) => wire.answer(/\}$/)));
    // With a wait for its body, each would be a 400.
    expect(strangers.every(({ text }) => text.startsWith('HTTP/1.1 401 '))).toBe(true);
    const known = await Wire.send(create(merchant.testKey, 60_000), Buffer.alloc(30_000, 'x'));
    expect([await read(), known.text]).toEqual([200, '']);
    // A connection that is kept alive stays for 72 s.
    await waitFor('all to be closed', async () => (await sockets()) <= before, 60_000);
    expect(known.text).toMatch(/^HTTP\/1\.1 400 .*was not sent within 10 s/s);
    expect(headers.isClosed).toBe(true);
  });
});

describe('a charge whose request was sent completely', () => {
  it('is created even if its sender hangs up at once', async () => {
    const body = JSON.stringify({ amount: 4711, payment_method: 'pix' });
    const wire = await Wire.send(create(merchant.testKey, body.length) + body);
    wire.socket.destroySoon();
    await waitFor('the charge', async () => {
      const [row] = await service.sql('SELECT 1 FROM transactions WHERE amount = 4711');
      return row;
    });
  });
});

describe('a service that is closed', () => {
  it('answers requests under way, and does not wait for idle kept-alive connections', async () => {
    const own = await TestService.start({ database });
    const { testKey } = await own.merchant();
    const body = JSON.stringify({ amount: 4712, payment_method: 'pix' });
    // The second connection is opened as a browser opens one, for a later request.
    const [idle, silent, busy] = [await Wire.open(own), await Wire.open(own), await Wire.open(own)];
    idle.socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    await idle.answer(/\}$/);
    busy.socket.write(create(testKey, body.length) + body.slice(0, 10));
    await delay(100);
    let isOver = false;
    const closed = own.runtime.app.close().then(() => (isOver = true));
    await Promise.all([idle.closed(), silent.closed()]);
    expect(isOver).toBe(false);
    busy.socket.write(body.slice(10));
    expect(await busy.answer(/\}$/)).toMatch(/^HTTP\/1\.1 201 .*\r\nConnection: close\r\n/s);
    await busy.closed();
    await closed;
    await own.stop();
  });
});
