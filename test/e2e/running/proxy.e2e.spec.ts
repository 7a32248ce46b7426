import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CheckoutService } from '../../../src/checkout/checkout.service.js';
import { ObjectStorage } from '../../../src/storage/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

let database: TestDatabase;
let service: TestService;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(() => service.stop());
afterAll(() => database.drop());

async function start(trustProxy: string, env: Record<string, string> = {}): Promise<void> {
  service = await TestService.start({ database, env: { TRUST_PROXY: trustProxy, ...env } });
}

/** Sends an unknown token through a simulated proxy. */
async function guess(forwardedFor: string): Promise<number> {
  const headers = { 'X-Forwarded-For': forwardedFor };
  return (await service.call('GET', '/v1/members', { token: 'a.b.c', headers })).status;
}

/** Returns the address that the audit trail counts a failed login under. */
async function addressOf(forwardedFor: string): Promise<string | null> {
  const answer = await service.call('POST', '/v1/auth/login', {
    body: { email: `${randomUUID()}@example.com`, password: 'x' },
    headers: { 'X-Forwarded-For': forwardedFor },
  });
  expect(answer.status).toBe(401);
  const rows = await service.sql<{ ip: string | null }>('SELECT ip FROM login_failures WHERE request_id = $1', [
    answer.headers.get('x-request-id'),
  ]);
  return rows[0]?.ip ?? null;
}

describe('X-Forwarded-For', () => {
  it.each(['127.0.0.1', '127.0.0.0/8', 'loopback', '10.0.0.0/8,::ffff:127.0.0.1', '2001:db8::/32, loopback'])(
    'from a proxy within TRUST_PROXY=%s is used, up to the first address outside',
    async (trustProxy) => {
      await start(trustProxy);
      expect(await addressOf('203.0.113.7')).toBe('203.0.113.7');
      expect(await addressOf('2001:db9::7')).toBe('2001:db9::7');
      // A value that the caller wrote stands to the left of the value that the proxy added.
      expect(await addressOf('198.51.100.1, 203.0.113.7')).toBe('203.0.113.7');
      expect(await addressOf('203.0.113.7, 127.0.0.1')).toBe('203.0.113.7');
    },
  );

  it.each(['', '10.0.0.0/8', '203.0.113.7', 'linklocal,uniquelocal', '::1'])(
    'from any other address is ignored with TRUST_PROXY=%s',
    async (trustProxy) => {
      await start(trustProxy);
      expect(await addressOf('203.0.113.7')).toBe('127.0.0.1');
      expect(await addressOf('203.0.113.7, 10.0.0.1')).toBe('127.0.0.1');
    },
  );
});

describe('a limit per address', () => {
  const env = { RATE_LIMIT: 'on', RATE_LIMIT_AUTH_FAILURES_PER_MINUTE: '3' };

  it('counts callers behind a trusted proxy by IPv4 address, however written, or by /64 of IPv6', async () => {
    await start('loopback', env);
    const statuses = async (...addresses: string[]): Promise<number[]> => {
      const answers: number[] = [];
      for (const address of addresses) answers.push(await guess(address));
      return answers;
    };
    expect(await statuses('203.0.113.7', '::ffff:203.0.113.7', '::ffff:cb00:7107', '203.0.113.7')).toEqual([
      401, 401, 401, 429,
    ]);
    expect(await statuses('203.0.113.8')).toEqual([401]);
    expect(await statuses('2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:1:ffff::', '2001:db8:0:1::4')).toEqual([
      401, 401, 401, 429,
    ]);
    expect(await statuses('2001:db8:0:2::1')).toEqual([401]);
    // The /48 of both has eight times the limit: 20 of 24 are left.
    const neighbours = await statuses(...Array.from({ length: 25 }, (_, at) => `2001:db8:0:${at + 10}::1`));
    expect(neighbours).toEqual([...Array<number>(20).fill(401), ...Array<number>(5).fill(429)]);
  });

  it('applies to every public page, but to no probe from a private address', async () => {
    await start('loopback', { RATE_LIMIT: 'on', RATE_LIMIT_PUBLIC_PER_MINUTE: '3' });
    const { testKey } = await service.merchant();
    const { body } = await service.createCharge(testKey);
    const allowed = async (path: string, address: string): Promise<number> => {
      const headers = { 'X-Forwarded-For': address };
      const calls = Array.from({ length: 40 }, () => service.call('GET', path, { headers }));
      return (await Promise.all(calls)).filter(({ status }) => status !== 429).length;
    };
    const charge = `/checkout/${body.id}`;
    const stranger = '203.0.113.9';
    for (const path of ['/openapi.json', '/health/ready', '/metrics', '/sandbox/boletos/x/boleto.pdf']) {
      expect([path, await allowed(path, stranger)]).toEqual([path, 3]);
    }
    expect(['/docs', await allowed('/docs/swagger-ui-init.js', stranger)]).toEqual(['/docs', 6]);
    // People behind one address of their provider share this limit.
    for (const path of [charge, `${charge}/qr.png`]) expect([path, await allowed(path, stranger)]).toEqual([path, 30]);
    for (const address of ['127.0.0.1', '10.0.0.7', '::1', 'fd00::7']) {
      for (const path of ['/health/ready', '/metrics'])
        expect([path, await allowed(path, address)]).toEqual([path, 40]);
    }
  });

  it('is helped by caching: constant pages are built once, and readiness is checked once a second', async () => {
    await start('');
    const { testKey } = await service.merchant();
    const { body } = await service.createCharge(testKey);
    const checkout = service.get(CheckoutService);
    expect(await checkout.qr(body.id)).toBe(await checkout.qr(body.id));
    const check = jest.spyOn(service.get(ObjectStorage), 'check');
    const started = performance.now();
    await Promise.all(Array.from({ length: 100 }, () => service.call('GET', '/health/ready')));
    expect(check.mock.calls.length).toBeLessThanOrEqual(1 + (performance.now() - started) / 1_000);
    check.mockRestore();
  });

  it('cannot be escaped by sending the header X-Forwarded-For', async () => {
    await start('', env);
    const answers: number[] = [];
    for (let host = 1; host <= 4; host++) answers.push(await guess(`203.0.113.${host}`));
    expect(answers).toEqual([401, 401, 401, 429]);
  });

  it('counts logins of a /64 as one address, and allows eight times as many per /48', async () => {
    await start('loopback', { RATE_LIMIT: 'on', RATE_LIMIT_LOGIN_PER_15_MINUTES: '2' });
    const login = async (address: string): Promise<number> => {
      const body = { email: 'victim@example.com', password: 'x' };
      return (await service.call('POST', '/v1/auth/login', { body, headers: { 'X-Forwarded-For': address } })).status;
    };
    const answers: number[] = [];
    for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1']) {
      answers.push(await login(address));
    }
    expect(answers).toEqual([401, 401, 429, 401]);
    // The /48 has 13 of its 16 tries left.
    const neighbours: number[] = [];
    for (let network = 2; network < 17; network++) neighbours.push(await login(`2001:db8:0:${network}::1`));
    expect(neighbours).toEqual([...Array<number>(13).fill(401), 429, 429]);
  });

  /** A connection and the answer that it gets; null: closed unheard. */
  async function open(): Promise<{ socket: Socket; text: string } | null> {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    const heard = once(socket, 'data').then(([data]) => ({ socket, text: String(data) }));
    return Promise.race([heard, once(socket, 'close').then(() => null)]);
  }

  it('allows one address a quarter of the connections', async () => {
    await start('', { MAX_CONNECTIONS: '12' });
    const held: Socket[] = [];
    for (let one = await open(); one; one = await open()) held.push(one.socket);
    expect(held).toHaveLength(3);
    held.pop()?.destroy();
    await waitFor('a place', async () => {
      const one = await open();
      if (one) held.push(one.socket);
      return one !== null;
    });
    for (const socket of held) socket.destroy();
  });

  it('allows a trusted proxy all connections, and ends keep-alive when most are taken', async () => {
    await start('loopback', { MAX_CONNECTIONS: '12' });
    const held: Socket[] = [];
    for (let count = 0; count < 9; count++) {
      const one = await open();
      expect(one?.text).toContain('Connection: keep-alive');
      if (one) held.push(one.socket);
    }
    for (let count = 0; count < 5; count++) {
      const one = await open();
      expect(one?.text).toContain('Connection: close');
      if (one && !one.socket.closed) await once(one.socket.resume(), 'close');
    }
    for (const socket of held) socket.destroy();
  });
});
