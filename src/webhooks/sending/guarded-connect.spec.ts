import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server, type Socket as TcpSocket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { LATE, within } from '../../core/within.js';
import { createResolver, guardedConnect, type ResolveHost } from './guarded-connect.js';

describe('guardedConnect', () => {
  let server: Server;
  let port: string;

  beforeAll(async () => {
    server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = String((server.address() as AddressInfo).port);
  });
  afterAll(() => void server.close());

  /** @returns `connected`, or the error's message */
  function connect(hostname: string, mayBePrivate: boolean, resolve?: ResolveHost): Promise<string> {
    const unused = (): Promise<string[]> => Promise.reject(new Error('an address is not looked up'));
    const connector = guardedConnect({ mayBePrivate, timeoutMs: 60_000, resolve: resolve ?? unused });
    return new Promise((resolved) => {
      connector({ hostname, host: hostname, protocol: 'http:', port }, (error, socket: TcpSocket | null) => {
        socket?.destroy();
        resolved(error?.message ?? 'connected');
      });
    });
  }

  it.each(['127.0.0.1', '::ffff:127.0.0.1'])('checks %s given instead of a name', async (hostname) => {
    expect(await connect(hostname, true)).toBe('connected');
    expect(await connect(hostname, false)).toBe('loopback address');
  });

  it.each(['169.254.169.254', 'fe80::1', '0.0.0.0', '::'])('never connects to %s', async (hostname) => {
    expect(await connect(hostname, true)).toMatch(/^(cloud metadata|link-local|unspecified) address$/);
    expect(await connect('shop.example', true, () => Promise.resolve([hostname]))).toMatch(/ address$/);
  });

  it('goes through the allowed addresses of a name until one takes the connection', async () => {
    const resolve = (): Promise<string[]> => Promise.resolve(['0.0.0.0', '127.0.0.9', '127.0.0.1']);
    expect(await connect('shop.example', true, resolve)).toBe('connected');
    expect(await connect('shop.example', false, resolve)).toBe('unspecified address');
  });
});

/** Replies of the name server for each name; see `REPLIES`. */
type Reply = { v4?: string; v6?: string; code?: number } | 'silence';

const REPLIES: Readonly<Record<string, { A: Reply; AAAA: Reply }>> = {
  'both.example': { A: { v4: '203.0.113.5' }, AAAA: { v6: '20010db8000000000000000000000005' } },
  'v4.example': { A: { v4: '203.0.113.5' }, AAAA: {} },
  'v6.example': { A: {}, AAAA: { v6: '20010db8000000000000000000000005' } },
  'half-silent.example': { A: { v4: '203.0.113.5' }, AAAA: 'silence' },
  'absent.example': { A: { code: 3 }, AAAA: { code: 3 } },
  'empty.example': { A: {}, AAAA: {} },
  'broken.example': { A: { code: 2 }, AAAA: { code: 2 } },
  'refused.example': { A: { code: 5 }, AAAA: {} },
  'silent.example': { A: 'silence', AAAA: 'silence' },
};

const asked: string[] = [];

/** A name server (RFC 1035) that knows these names. */
async function startNameServer(): Promise<Socket> {
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    let at = 12;
    const labels: string[] = [];
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const type = query.readUInt16BE(at + 1);
    asked.push(labels.join('.'));
    const reply = REPLIES[labels.join('.').toLowerCase()]?.[type === 1 ? 'A' : 'AAAA'];
    if (reply === undefined || reply === 'silence') return;
    const data =
      reply.v4 === undefined ? Buffer.from(reply.v6 ?? '', 'hex') : Buffer.from(reply.v4.split('.').map(Number));
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | (reply.code ?? 0), 2);
    head.writeUInt16BE(data.length > 0 ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    // A pointer to the question's name, then type, class, time to live and length.
    const record = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
    server.send([head, query.subarray(12, at + 5), ...(data.length > 0 ? [record, data] : [])], port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('createResolver', () => {
  let server: Socket;
  const made: Resolver[] = [];
  beforeAll(async () => {
    server = await startNameServer();
  });
  afterEach(() => {
    for (const dns of made.splice(0)) dns.cancel();
  });
  afterAll(() => void server.close());

  function resolver(asSystem = false, timeout = 60_000): ResolveHost {
    return createResolver(asSystem, () => {
      const dns = new Resolver({ timeout, tries: 1 });
      dns.setServers([`127.0.0.1:${server.address().port}`]);
      made.push(dns);
      return dns;
    });
  }

  it.each([
    ['both.example', ['203.0.113.5', '2001:db8::5']],
    ['v4.example', ['203.0.113.5']],
    ['v6.example', ['2001:db8::5']],
  ])('gives the addresses of %s, IPv4 first', async (name, addresses) => {
    expect(await resolver()(name)).toEqual(addresses);
  });

  it('does not wait for a name server that never answers for IPv6', async () => {
    const six = jest.spyOn(Resolver.prototype, 'resolve6');
    expect(await resolver()('half-silent.example')).toEqual(['203.0.113.5']);
    const [query] = six.mock.results;
    expect(await within(0, Promise.resolve(query?.value))).toBe(LATE);
    six.mockRestore();
  });

  it.each([
    ['absent.example', 'ENOTFOUND', 60_000],
    ['empty.example', 'ENOTFOUND', 60_000],
    ['broken.example', 'EAI_AGAIN', 60_000],
    ['refused.example', 'EAI_AGAIN', 60_000],
    ['silent.example', 'EAI_AGAIN', 300],
  ])('fails for %s with %s', async (name, code, timeout) => {
    await expect(resolver(false, timeout)(name)).rejects.toMatchObject({ code });
  });

  it('reads the configuration again when no name server helped, but not when a name does not exist', async () => {
    const resolve = resolver();
    expect(made).toHaveLength(1);
    await expect(resolve('absent.example')).rejects.toThrow();
    expect(made).toHaveLength(1);
    await expect(resolve('broken.example')).rejects.toThrow();
    expect(made).toHaveLength(2);
    expect(await resolve('v4.example')).toEqual(['203.0.113.5']);
  });

  it('resolves localhost itself', async () => {
    for (const name of ['localhost', 'api.localhost']) {
      for (const asSystem of [true, false]) expect(await resolver(asSystem)(name)).toEqual(['127.0.0.1', '::1']);
    }
  });

  it('resolves two names at a time through the system, and the others through the name server', async () => {
    const resolve = resolver(true);
    const names = ['absent.example', 'empty.example', 'v4.example', 'v6.example'];
    const answers = await Promise.allSettled(names.map(resolve));
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
    // A turn ends with any result: only this name server knows these names.
    await expect(resolve('v4.example')).rejects.toThrow();
  });

  it('resolves once for connections that are opened together, and again for later ones', async () => {
    const resolve = resolver();
    asked.length = 0;
    await Promise.all(Array.from({ length: 5 }, () => resolve('both.example')));
    expect(asked).toHaveLength(2);
    await resolve('both.example');
    expect(asked).toHaveLength(4);
    await expect(resolve('absent.example')).rejects.toThrow();
    await expect(resolve('absent.example')).rejects.toThrow();
    expect(asked).toHaveLength(8);
  });
});
