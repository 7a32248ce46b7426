import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { WebhookClient } from './webhook-client.js';

const open: { close(): Promise<unknown> | void }[] = [];

afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close();
});

function client(totalMs = 10_000): WebhookClient {
  const made = new WebhookClient({ connectMs: 5_000, totalMs });
  open.push({ close: () => made.onApplicationShutdown() });
  return made;
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
    const answer = await client().post(url, { 'X-Service-Event-Type': 'charge.paid' }, body);
    expect(seen).toEqual(['POST', '/hook?a=1', 'charge.paid', body]);
    expect(answer).toEqual({
      statusCode: 202,
      error: null,
      retryAfter: null,
      responseBody: 'taken',
      durationMs: expect.any(Number),
    });
  });

  it('uses a connection again for later deliveries', async () => {
    const ports = new Set<number | undefined>();
    const url = await receiver((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('ok');
    });
    const sender = client();
    for (let i = 0; i < 20; i++) await sender.post(url, {}, '{}');
    // A second one is opened when the next post comes before the first is marked free.
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  it('does not follow redirects', async () => {
    let requests = 0;
    const url = await receiver((_request, response) => {
      requests += 1;
      response.writeHead(307, { Location: '/elsewhere' }).end();
    });
    const answer = await client().post(url, {}, '{}');
    expect(answer).toMatchObject({ statusCode: 307, error: 'HTTP 307: redirects are not followed' });
    expect(requests).toBe(1);
  });

  it('reports other statuses with Retry-After and the body', async () => {
    const url = await receiver((_request, response) => {
      response.writeHead(503, { 'Retry-After': '30' }).end('down');
    });
    const answer = await client().post(url, {}, '{}');
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
    const answer = await client().post(url, {}, '{}');
    expect(answer).toMatchObject({ statusCode: 200, error: null, responseBody: 'x'.repeat(8192) });
    await gone;
  });

  it('counts a 200 whose body never ends as answered', async () => {
    const url = await receiver((_request, response) => {
      response.writeHead(200).write('part');
    });
    expect(await client(200).post(url, {}, '{}')).toMatchObject({ statusCode: 200, error: null, responseBody: 'part' });
  });

  it('counts a 200 whose body breaks off as answered', async () => {
    const url = await receiver((_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('part', () => response.destroy());
    });
    expect(await client().post(url, {}, '{}')).toMatchObject({ statusCode: 200, error: null, responseBody: 'part' });
  });

  it('gives up on a receiver that does not answer in time', async () => {
    const url = await receiver(() => undefined);
    expect(await client(200).post(url, {}, '{}')).toMatchObject({
      statusCode: null,
      error: 'timed out after 0.2 s',
      responseBody: null,
    });
  });

  it('says in words why there was no answer', async () => {
    const port = await listen(createTcpServer());
    await open.pop()?.close();
    const refused = await client().post(`http://127.0.0.1:${port}/`, {}, '{}');
    expect(refused.error).toBe('connection refused');

    const hangsUp = await receiver((request) => request.socket.destroy());
    const cut = await client().post(hangsUp, {}, '{}');
    expect(cut.error).toBe('the receiver closed the connection before it answered');

    const chatty = createTcpServer((socket) => socket.resume().end('SSH-2.0-OpenSSH_9.6\r\n'));
    const chattyPort = await listen(chatty);
    const noHttp = await client().post(`http://127.0.0.1:${chattyPort}/`, {}, '{}');
    expect(noHttp.error).toBe('the answer is not valid HTTP');

    const plain = await receiver((_request, response) => response.end());
    const noTls = await client().post(plain.replace('http:', 'https:'), {}, '{}');
    expect(noTls.error).toMatch(/^TLS: [a-z ]+$/);

    const unknown = await client().post('http://receiver.invalid/', {}, '{}');
    expect(unknown.error).toMatch(/^the host name (does not exist|could not be resolved)$/);
  });

  it('ends the post under way when shutting down, and throws at a new one: that says nothing about the receiver', async () => {
    const made = client();
    let arrived = (response: ServerResponse): void => void response;
    const underWay = new Promise<ServerResponse>((resolve) => (arrived = resolve));
    const url = await receiver((_request, response) => arrived(response));
    const post = made.post(url, {}, '{}');
    const response = await underWay;
    made.onApplicationShutdown();
    await expect(made.post(url, {}, '{}')).rejects.toThrow();
    response.end('late');
    expect(await post).toMatchObject({ statusCode: 200, responseBody: 'late' });
  });
});
