import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ENDLESS_ANSWERS, ENDLESS_BODIES, EndlessPeer } from '../../../test/support/endless-answers.js';
import { SELF_SIGNED } from '../../../test/support/self-signed.js';
import { waitFor } from '../../../test/support/wait.js';
import { readConfig } from '../../core/config/index.js';
import type { Mode } from '../../core/mode.js';
import type { ResolveHost } from './guarded-connect.js';
import { type WebhookAnswer, WebhookClient } from './webhook-client.service.js';

const open: { close(): Promise<unknown> | void }[] = [];

afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close();
});

function client(options: { env?: Record<string, string>; resolve?: ResolveHost } = {}): Poster {
  // A server's: there the modes differ.
  const config = readConfig({
    ALLOW_INSECURE: 'true',
    DATABASE_URL: 'postgres://db.example/recebe',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_TIMEOUT_MS: '10000',
    ...options.env,
  });
  const made = new WebhookClient(config, options.resolve);
  open.push({ close: () => made.onApplicationShutdown() });
  return {
    client: made,
    post: (url, body = '{}', headers = {}, mode = 'test') => made.post({ url, mode }, headers, body),
  };
}

interface Poster {
  readonly client: WebhookClient;
  post(url: string, body?: string, headers?: Record<string, string>, mode?: Mode): Promise<WebhookAnswer>;
}

async function listen<S extends Server | TcpServer>(server: S): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => new Promise((resolve) => server.close(resolve)) });
  return (server.address() as AddressInfo).port;
}

async function receiver(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  const port = await listen(server);
  open.push({ close: () => server.closeAllConnections() });
  return `http://127.0.0.1:${port}/hook?a=1`;
}

describe('WebhookClient', () => {
  it('posts the exact body with the headers it was given', async () => {
    const body = JSON.stringify({ name: 'João €' });
    const seen: unknown[] = [];
    const url = await receiver((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.push(
          request.method,
          request.url,
          request.headers['x-service-event-type'],
          Buffer.concat(chunks).toString(),
        );
        response.writeHead(202).end('taken');
      });
    });
    const answer = await client().post(url, body, { 'X-Service-Event-Type': 'charge.paid' });
    expect(seen).toEqual(['POST', '/hook?a=1', 'charge.paid', body]);
    expect(answer).toEqual({
      statusCode: 202,
      error: null,
      retryAfter: null,
      responseBody: 'taken',
      durationMs: expect.any(Number),
    });
  });

  it('reuses a connection for later deliveries', async () => {
    const ports = new Set<number | undefined>();
    const url = await receiver((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('ok');
    });
    const sender = client();
    for (let i = 0; i < 20; i++) await sender.post(url);
    // A second one is opened when the next post comes before the first is marked free.
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  it('does not follow redirects', async () => {
    let requests = 0;
    const url = await receiver((_request, response) => {
      requests += 1;
      response.writeHead(307, { Location: '/elsewhere' }).end();
    });
    const answer = await client().post(url);
    expect(answer).toMatchObject({ statusCode: 307, error: 'HTTP 307: redirects are not followed' });
    expect(requests).toBe(1);
  });

  it('reports other statuses with Retry-After and the body', async () => {
    const url = await receiver((_request, response) => {
      response.writeHead(503, { 'Retry-After': '30' }).end('down');
    });
    const answer = await client().post(url);
    expect(answer).toMatchObject({ statusCode: 503, error: 'HTTP 503', retryAfter: '30', responseBody: 'down' });
  });

  it('reads at most 8 KiB of an endless answer and lets its connection go', async () => {
    let closed = (): void => undefined;
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const url = await receiver((request, response) => {
      request.socket.on('close', closed);
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(4096)));
      };
      response.on('drain', more);
      more();
    });
    const answer = await client().post(url);
    expect(answer).toMatchObject({ statusCode: 200, error: null, responseBody: 'x'.repeat(8192) });
    await gone;
  });

  it('counts a 200 whose body never ends as answered', async () => {
    const url = await receiver((_request, response) => {
      response.writeHead(200).write('part');
    });
    expect(await client({ env: { WEBHOOK_TIMEOUT_MS: '200' } }).post(url)).toMatchObject({
      statusCode: 200,
      error: null,
      responseBody: 'part',
    });
  });

  it('counts a 200 whose body breaks off as answered', async () => {
    const url = await receiver((_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('part', () => response.destroy());
    });
    expect(await client().post(url)).toMatchObject({ statusCode: 200, error: null, responseBody: 'part' });
  });

  it('gives up on a receiver that does not answer in time', async () => {
    const url = await receiver(() => undefined);
    expect(await client({ env: { WEBHOOK_TIMEOUT_MS: '200' } }).post(url)).toMatchObject({
      statusCode: null,
      error: 'timed out after 0.2 s',
      responseBody: null,
    });
  });

  it('explains in words why there was no answer', async () => {
    const port = await listen(createTcpServer());
    await open.pop()?.close();
    const refused = await client().post(`http://127.0.0.1:${port}/`);
    expect(refused.error).toBe('connection refused');

    const hangsUp = await receiver((request) => request.socket.destroy());
    const cut = await client().post(hangsUp);
    expect(cut.error).toBe('the receiver closed the connection before it answered');

    const chatty = createTcpServer((socket) => socket.resume().end('SSH-2.0-OpenSSH_9.6\r\n'));
    const chattyPort = await listen(chatty);
    const noHttp = await client().post(`http://127.0.0.1:${chattyPort}/`);
    expect(noHttp.error).toBe('the answer is not valid HTTP');

    const plain = await receiver((_request, response) => response.end());
    const noTls = await client().post(plain.replace('http:', 'https:'));
    expect(noTls.error).toMatch(/^TLS: [a-z ]+$/);

    const unknown = await client().post('http://receiver.invalid/');
    expect(unknown.error).toMatch(/^the host name (does not exist|could not be resolved)$/);
  });

  it('ends the post under way at shutdown, and throws at a new one, since neither says anything about the receiver', async () => {
    const made = client();
    let arrived = (response: ServerResponse): void => void response;
    const underWay = new Promise<ServerResponse>((resolve) => (arrived = resolve));
    const url = await receiver((_request, response) => arrived(response));
    const post = made.post(url);
    const response = await underWay;
    made.client.onApplicationShutdown();
    await expect(made.post(url)).rejects.toThrow();
    response.end('late');
    expect(await post).toMatchObject({ statusCode: 200, responseBody: 'late' });
  });

  it('reports that the headers of an answer are too large', async () => {
    const url = await receiver((_request, response) => {
      response.writeHead(200, { 'X-Large': 'x'.repeat(20_000) }).end();
    });
    expect((await client().post(url)).error).toBe('the headers of the answer are too large');
  });

  it('skips interim answers, requested or not', async () => {
    const informed = await receiver((_request, response) => {
      for (let count = 0; count < 40; count++) response.writeProcessing();
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeContinue();
      response.writeHead(200).end('then');
    });
    expect(await client().post(informed)).toMatchObject({ statusCode: 200, responseBody: 'then' });
    const switching = createTcpServer((socket) => {
      socket.on('error', () => undefined).resume();
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    });
    const { error } = await client().post(`http://127.0.0.1:${await listen(switching)}/`);
    expect(error).toBe('the receiver answered HTTP 101, which it was not asked for');
  });

  it.each([
    ...Object.keys(ENDLESS_ANSWERS).map((name) => [name, null] as const),
    ...Object.keys(ENDLESS_BODIES).map((name) => [name, 200] as const),
  ])('ends an attempt at its limit of bytes when the answer goes on with %s: status %p', async (name, statusCode) => {
    const peer = await EndlessPeer.listen({ ...ENDLESS_ANSWERS, ...ENDLESS_BODIES }[name] ?? ['', '']);
    open.push({ close: () => peer.stop() });
    const answer = await client({ env: { WEBHOOK_TIMEOUT_MS: '30000' } }).post(peer.url);
    expect(answer).toMatchObject({
      statusCode,
      error:
        statusCode === 200
          ? null
          : expect.stringMatching(/sent 128 KiB and no answer|headers of the answer are too large/),
    });
    // The buffers of the kernel hold a part of these bytes.
    await waitFor('the connection to be closed', () => peer.closed.length > 0);
    expect(peer.closed[0]).toBeLessThan(16 * 1024 * 1024);
  });

  it('sends again over a new connection, as the same attempt, when the receiver had closed the one that was kept', async () => {
    const seen: { port: number | undefined; id: string | string[] | undefined }[] = [];
    const url = await receiver((request, response) => {
      const { socket, headers } = request;
      const isReused = seen.some(({ port }) => port === socket.remotePort);
      seen.push({ port: socket.remotePort, id: headers['x-service-delivery'] });
      if (isReused) socket.resetAndDestroy();
      else response.end('ok');
    });
    const sender = client();
    let tries = 0;
    // A second post may open a second connection.
    while (seen.length <= tries) {
      const id = `delivery-${tries++}`;
      const answer = await sender.post(url, '{}', { 'X-Service-Delivery': id });
      expect(answer).toMatchObject({ statusCode: 200, error: null });
      await delay(20);
    }
    expect(seen.slice(-2).map(({ id }) => id)).toEqual(Array(2).fill(`delivery-${tries - 1}`));
    expect(new Set(seen.map(({ port }) => port)).size).toBe(seen.length - 1);
  });

  it('repeats a post only once when the receiver closes the connection again', async () => {
    let requests = 0;
    const url = await receiver((request, response) => {
      if (requests++ === 0) response.end();
      else request.socket.resetAndDestroy();
    });
    const sender = client();
    expect((await sender.post(url)).statusCode).toBe(200);
    await delay(20);
    expect((await sender.post(url)).error).toBe('the receiver closed the connection before it answered');
    expect(requests).toBe(3);
    expect((await sender.post(url)).error).toBe('the receiver closed the connection before it answered');
    expect(requests).toBe(4);
  });
});

describe('the address that WebhookClient connects to', () => {
  /** A name server whose answer can change. */
  function nameServer(...answers: string[][]): ResolveHost & { asked: string[] } {
    const asked: string[] = [];
    const resolve = async (hostname: string): Promise<string[]> => {
      asked.push(hostname);
      return (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    };
    return Object.assign(resolve, { asked });
  }

  /** A receiver under a name. Connections are never kept alive: each post connects again. */
  async function named(name: string): Promise<{ url: string; hosts: (string | undefined)[] }> {
    const hosts: (string | undefined)[] = [];
    const url = new URL(
      await receiver((request, response) => {
        hosts.push(request.headers.host);
        response.writeHead(200, { Connection: 'close' }).end();
      }),
    );
    url.hostname = name;
    return { url: url.href, hosts };
  }

  it('is the checked one, while the Host header stays the name', async () => {
    const { url, hosts } = await named('shop.example');
    const resolve = nameServer(['127.0.0.1']);
    expect(await client({ resolve }).post(url)).toMatchObject({ statusCode: 200 });
    expect(resolve.asked).toEqual(['shop.example']);
    expect(hosts).toEqual([new URL(url).host]);
  });

  it.each([
    ['127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['10.0.0.7', 'private'],
    ['192.0.2.1', 'special-use'],
    ['169.254.169.254', 'cloud metadata'],
    ['::ffff:169.254.169.254', 'cloud metadata'],
    ['fe80::1%lo', 'link-local'],
    ['0.0.0.0', 'unspecified'],
  ])('is checked at every attempt: a name that now leads to %s is refused', async (address, kind) => {
    const { url, hosts } = await named('shop.example');
    const resolve = nameServer(['127.0.0.1'], [address]);
    const allowing = client({ resolve });
    expect(await allowing.post(url)).toMatchObject({ statusCode: 200 });

    const strict = client({ resolve, env: { WEBHOOK_ALLOW_PRIVATE: 'false' } });
    const answer = await strict.post(url);
    expect(answer).toMatchObject({ statusCode: null, error: `the host's address is not allowed: ${kind}` });
    expect(answer.error).not.toMatch(/\d/);
    expect(resolve.asked).toHaveLength(2);
    expect(hosts).toHaveLength(1);
  });

  it('is never link-local or the metadata service, even if private addresses are allowed', async () => {
    const { url, hosts } = await named('shop.example');
    const changing = client({ resolve: nameServer(['127.0.0.1'], ['169.254.169.254'], ['::'], ['127.0.0.1']) });
    expect((await changing.post(url)).statusCode).toBe(200);
    expect((await changing.post(url)).error).toBe("the host's address is not allowed: cloud metadata");
    expect((await changing.post(url)).error).toBe("the host's address is not allowed: unspecified");
    expect((await changing.post(url)).statusCode).toBe(200);
    expect(hosts).toHaveLength(2);
  });

  it('is one of the allowed addresses of a host, and never one of the others', async () => {
    const { url, hosts } = await named('shop.example');
    // Nothing listens on 127.0.0.2, so it is tried first and then the one that answers.
    const resolve = nameServer(['169.254.169.254', '127.0.0.2', 'fe80::1', '127.0.0.1']);
    expect(await client({ resolve }).post(url)).toMatchObject({ statusCode: 200 });
    expect(hosts).toHaveLength(1);
  });

  it('is public in live mode, also while test mode may go to private addresses, on connections kept alive too', async () => {
    const ports: (number | undefined)[] = [];
    const url = new URL(
      await receiver((request, response) => {
        ports.push(request.socket.remotePort);
        response.end();
      }),
    );
    url.hostname = 'shop.example';
    const resolve = nameServer(['127.0.0.1']);
    const both = client({ resolve });
    expect((await both.post(url.href)).statusCode).toBe(200);
    expect((await both.post(url.href)).statusCode).toBe(200);
    const secure = url.href.replace('http:', 'https:');
    expect((await both.post(secure, '{}', {}, 'live')).error).toBe("the host's address is not allowed: loopback");
    expect((await both.post(url.href, '{}', {}, 'live')).error).toBe('the URL must start with https:// in live mode');
    expect(ports).toHaveLength(2);
  });

  it('must present a TLS certificate of the name', async () => {
    const asked: string[] = [];
    const server = createTlsServer({
      ...SELF_SIGNED,
      SNICallback: (name, callback) => {
        asked.push(name);
        callback(null);
      },
    });
    server.on('tlsClientError', () => undefined);
    const port = await listen(server);
    const { error } = await client({ resolve: nameServer(['127.0.0.1']) }).post(`https://shop.example:${port}/`);
    expect(error).toMatch(/^TLS: self-signed certificate/);
    expect(asked).toEqual(['shop.example']);
  });

  it('is not looked up when the URL itself is no longer allowed', async () => {
    const resolve = nameServer(['8.8.8.8']);
    const strict = client({ resolve, env: { WEBHOOK_ALLOW_PRIVATE: 'false' } });
    for (const [url, error] of [
      ['http://127.0.0.1:8080/', 'the URL must have a public host'],
      ['http://[::ffff:10.0.0.1]/', 'the URL must have a public host'],
      ['http://169.254.169.254/latest', 'the URL must not have a cloud metadata address'],
      ['http://localhost/', 'the URL must have a public host'],
      ['http://shop.example:6379/', 'the URL must not have port 6379: it is not for HTTP'],
    ] as const) {
      expect(await strict.post(url)).toMatchObject({ statusCode: null, error });
    }
    expect(resolve.asked).toEqual([]);
  });

  it('does not exist when the name has no address, or no name server answers', async () => {
    const { url } = await named('shop.example');
    expect((await client({ resolve: nameServer([]) }).post(url)).error).toBe('the host name does not exist');
    const unknown = Object.assign(new Error('queryA EAI_AGAIN 10.0.0.2'), { code: 'EAI_AGAIN' });
    const lost = client({ resolve: () => Promise.reject(unknown) });
    expect((await lost.post(url)).error).toBe('the host name could not be resolved');
    const silent = client({
      resolve: () => new Promise(() => undefined),
      env: { WEBHOOK_CONNECT_TIMEOUT_MS: '200' },
    });
    expect((await silent.post(url)).error).toBe('could not connect within 0.2 s');
  });
});

describe('a URL to be registered', () => {
  const leadsTo =
    (...addresses: string[]): ResolveHost =>
    () =>
      Promise.resolve(addresses);
  const problemOf = (url: string, resolve: ResolveHost, mode: Mode = 'live'): Promise<string | null> =>
    client({ resolve }).client.checkTarget({ url, mode });

  it.each([
    ['169.254.169.254', /^must not lead to a .+ address$/],
    ['127.0.0.1', /^must not lead to a .+ address$/],
    ['10.1.2.3', /^must not lead to a .+ address$/],
    ['fd00:ec2::254', /^must not lead to a .+ address$/],
  ])('is refused when its host leads to %s', async (address, message) => {
    expect(await problemOf('https://shop.example.com/hook', leadsTo(address))).toMatch(message);
  });

  it('is accepted when one of its addresses is allowed, and in test mode when the operator allows private ones', async () => {
    expect(await problemOf('https://shop.example.com/hook', leadsTo('10.1.2.3', '93.184.216.34'))).toBeNull();
    expect(await problemOf('https://shop.example.com/hook', leadsTo('10.1.2.3'), 'test')).toBeNull();
  });

  it('is accepted when its host does not resolve, or not at once, since connections are checked again', async () => {
    const absent: ResolveHost = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
    expect(await problemOf('https://shop.example.com/hook', absent)).toBeNull();
    expect(await problemOf('https://shop.example.com/hook', () => new Promise(() => undefined))).toBeNull();
  });

  it('is refused by its text before its name is looked up', async () => {
    const asked: ResolveHost = () => Promise.reject(new Error('asked'));
    expect(await problemOf('http://shop.example.com/hook', asked)).toContain('https');
    expect(await problemOf('https://[::1]/hook', asked)).not.toBeNull();
  });
});
