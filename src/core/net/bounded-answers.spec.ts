import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Agent, buildConnector, request } from 'undici';
import { ENDLESS_ANSWERS, ENDLESS_BODIES, EndlessPeer } from '../../../test/support/endless-answers.js';
import { waitFor } from '../../../test/support/wait.js';
import { boundAnswers, isStaleConnection } from './bounded-answers.js';

const LIMIT = 128 * 1024;
/** A socket is read by as much at a time. */
const ONE_READ = 64 * 1024;

const open: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close();
});

/** An agent and the sockets that it has opened. */
function bounded(): { agent: Agent; sockets: Socket[] } {
  const sockets: Socket[] = [];
  const connect = buildConnector({});
  const kept: buildConnector.connector = (target, callback) =>
    connect(target, (...result) => {
      if (result[1]) sockets.push(result[1]);
      callback(...result);
    });
  const agent = new Agent({ connect: boundAnswers(kept, LIMIT), connections: 1 });
  open.push({ close: () => agent.destroy() });
  return { agent, sockets };
}

const ask = async (agent: Agent, url: string): Promise<string> => {
  const { statusCode, body } = await request(url, { dispatcher: agent, method: 'POST', body: '{}' });
  return `${statusCode} ${await body.text()}`;
};

/** A peer that writes `answers` to its connections' requests in turn; null: it resets the connection. */
async function peer(...answers: (readonly string[] | null)[]): Promise<string> {
  let requests = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      // Header and body of a request may come apart.
      if (!data.includes('POST')) return;
      const answer = answers[requests++] ?? null;
      if (answer === null) socket.resetAndDestroy();
      else answer.forEach((part, at) => setTimeout(() => socket.write(part), 10 * at));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe('an answer of a socket with a bound', () => {
  it.each(Object.keys({ ...ENDLESS_ANSWERS, ...ENDLESS_BODIES }))(
    'ends at its limit of bytes, although the peer goes on with %s',
    async (name) => {
      const endless = await EndlessPeer.listen({ ...ENDLESS_ANSWERS, ...ENDLESS_BODIES }[name] ?? ['', '']);
      open.push({ close: () => endless.stop() });
      const { agent, sockets } = bounded();
      const outcome = await ask(agent, endless.url).catch((error: unknown) => error);
      if (name !== 'blank lines after the answer') expect(outcome).toBeInstanceOf(Error);
      const [socket] = sockets;
      await waitFor('the socket to be closed', () => socket?.closed);
      expect(sockets.length).toBe(1);
      expect(socket?.bytesRead).toBeLessThanOrEqual(LIMIT + ONE_READ);
    },
  );

  it('is read whole, however many answers came before it over the same connection', async () => {
    const body = 'x'.repeat(100_000);
    const answer = [`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`];
    const url = await peer(answer, answer, answer, answer);
    const { agent, sockets } = bounded();
    for (let count = 0; count < 4; count++) expect(await ask(agent, url)).toBe(`200 ${body}`);
    expect(sockets.length).toBe(1);
  });
});

describe('interim answers', () => {
  const LAST = 'HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\nbody';
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n';

  it.each([
    ['none', LAST],
    ['one 100', CONTINUE + LAST],
    ['a 100 of HTTP/1.0', `HTTP/1.0 100 Continue\r\n\r\n${LAST}`],
    ['a 100 without a reason', `HTTP/1.1 100 \r\n\r\n${LAST}`],
    ['a 100 with headers', `HTTP/1.1 100 Continue\r\nA: b\r\nC: d\r\n\r\n${LAST}`],
    ['several of each', CONTINUE + HINTS + CONTINUE + CONTINUE + HINTS + LAST],
    ['a hundred', CONTINUE.repeat(100) + LAST],
  ])('are skipped: %s, in one packet, in two, and in single bytes', async (_name, text) => {
    const halves = Array.from({ length: 12 }, (_, at) => Math.floor((text.length * (at + 1)) / 13));
    const cuts = halves.map((at) => [text.slice(0, at), text.slice(at)]);
    const bytes = text.length < 400 ? [[...text.slice(0, 40), text.slice(40)]] : [];
    const ways = [[text], ...cuts, ...bytes];
    const url = await peer(...ways);
    const { agent, sockets } = bounded();
    for (const _way of ways) expect(await ask(agent, url)).toBe('201 body');
    expect(sockets.length).toBe(1);
  });
});

describe('a connection that its peer has closed', () => {
  const OK = ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'];

  it('counts as stale when it was reused and no byte of an answer came', async () => {
    const url = await peer(OK, null);
    const { agent } = bounded();
    await ask(agent, url);
    expect(isStaleConnection(await ask(agent, url).catch((error: unknown) => error))).toBe(true);
  });

  it('does not count as stale when it is new', async () => {
    const { agent } = bounded();
    const url = await peer(null);
    expect(isStaleConnection(await ask(agent, url).catch((error: unknown) => error))).toBe(false);
  });

  it.each(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 2', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no'])(
    'does not count as stale when %j had come',
    async (part) => {
      const sockets: Socket[] = [];
      const server = createServer((socket) => {
        sockets.push(socket);
        let requests = 0;
        socket.on('error', () => undefined);
        socket.on('data', (data: Buffer) => {
          if (!data.includes('POST')) return;
          if (requests++ === 0) socket.write(OK[0] ?? '');
          else socket.write(part, () => setTimeout(() => socket.resetAndDestroy(), 50));
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      open.push({ close: () => new Promise((resolve) => server.close(resolve)) });
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const { agent } = bounded();
      await ask(agent, url);
      const error: unknown = await ask(agent, url).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(isStaleConnection(error)).toBe(false);
      expect(sockets.length).toBe(1);
    },
  );
});
