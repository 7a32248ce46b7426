import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { freePort } from '../../../tools/harness/free-port.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { describeWith } from '../../support/needs.js';
import { Nginx } from '../../support/nginx.js';
import { Processes, type ServiceProcess } from '../../support/process.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

jest.setTimeout(600_000);

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe('a service that is told to shut down', () => {
  /** A connection that is kept alive; `ask` gives the text of one answer. */
  class Kept {
    #text = '';
    error: Error | null = null;

    private constructor(readonly socket: Socket) {
      socket.on('data', (part: Buffer) => (this.#text += part.toString('latin1')));
      socket.on('error', (error) => (this.error = error));
    }

    static async open(url: string): Promise<Kept> {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      const kept = new Kept(socket);
      await once(socket, 'connect');
      return kept;
    }

    send(text: string): void {
      this.socket.write(text);
    }

    /** Waits for `end`, then returns the output until now and clears it. */
    async heard(end: RegExp): Promise<string> {
      await waitFor(`${String(end)} on the wire`, () => {
        if (this.error) throw this.error;
        return end.test(this.#text);
      });
      const text = this.#text;
      this.#text = '';
      return text;
    }

    ask(path: string, key?: string): Promise<string> {
      this.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n${key === undefined ? '' : `apikey: ${key}\r\n`}\r\n`);
      return this.heard(/[\]}]$/);
    }
  }

  const OPEN = 12;

  it('serves for DRAIN_SECONDS more, keeps no connection alive, and resets none', async () => {
    const own = await TestService.start({ database, env: { DRAIN_SECONDS: '3' } });
    const { testKey } = await own.merchant();
    const kept = await Promise.all(Array.from({ length: OPEN }, () => Kept.open(own.url)));
    for (const connection of kept)
      expect(await connection.ask('/v1/wallets', testKey)).toContain('Connection: keep-alive');
    const probe = await Kept.open(own.url);
    expect(await probe.ask('/health/ready')).toMatch(/^HTTP\/1\.1 200 .*"status":"up"/s);
    const body = JSON.stringify({ amount: 4712 });
    const half = await Kept.open(own.url);
    half.send(
      `POST /v1/pix/charges HTTP/1.1\r\nHost: x\r\napikey: ${testKey}\r\nIdempotency-Key: ${randomUUID()}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    const stream = await Kept.open(own.url);
    stream.send(`GET /v1/events/stream HTTP/1.1\r\nHost: x\r\napikey: ${testKey}\r\n\r\n`);
    await stream.heard(/retry: \d+/);

    const stopped = own.stop();
    await stream.heard(/(?:^|\r\n)0\r\n\r\n$/);
    const notReady = await probe.ask('/health/ready');
    expect(notReady).toMatch(/^HTTP\/1\.1 503 .*"status":"down","database":"up"/s);
    half.send(body.slice(5));
    const answers = [
      notReady,
      await half.heard(/\}$/),
      ...(await Promise.all(kept.map((connection) => connection.ask('/v1/wallets', testKey)))),
      await (await Kept.open(own.url)).ask('/v1/wallets', testKey),
    ];
    for (const answer of answers) expect(answer).toContain('Connection: close\r\n');
    expect(answers.slice(1).map((answer) => answer.slice(9, 12))).toEqual([
      '201',
      ...Array<string>(OPEN + 1).fill('200'),
    ]);
    for (const { socket } of [probe, half, ...kept]) await waitFor('the connection to be closed', () => socket.closed);
    expect([probe, half, stream, ...kept].map(({ error }) => error)).toEqual(Array(OPEN + 3).fill(null));
    await stopped;
    await expectLedgerCoherent(database.url);
  });

  it('answers a request over a connection that it had just accepted', async () => {
    const own = await TestService.start({ database });
    const young = await Kept.open(own.url);
    const busy = await Kept.open(own.url);
    busy.send('POST /v1/charges HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{');
    await delay(50);
    const stopped = own.stop();
    await waitFor('the port to be closed', async () => {
      const late = connect(Number(new URL(own.url).port), '127.0.0.1');
      const refused = await Promise.race([
        once(late, 'connect').then(() => false),
        once(late, 'error').then(
          () => true,
          () => true,
        ),
      ]).catch(() => true);
      late.destroy();
      return refused;
    });
    expect(await young.ask('/health/live')).toMatch(/^HTTP\/1\.1 200 .*Connection: close/s);
    busy.send('}');
    expect(await busy.heard(/\}$/)).toMatch(/^HTTP\/1\.1 401 /);
    await stopped;
  });
});

const REQUESTS = 2_000;
const CONNECTIONS = 50;
const DRAIN_SECONDS = 2;

describeWith('nginx')('behind nginx, a change of version under load', () => {
  const processes = new Processes();
  let makers: TestService;
  let merchant: Merchant;
  let ports: number[];
  let path: string;
  let nginx: Nginx;

  const start = (port: number): Promise<ServiceProcess> =>
    processes.start(processes.dataDir(), {
      PORT: String(port),
      HOST: '127.0.0.1',
      TRUST_PROXY: 'loopback',
      RATE_LIMIT: 'off',
      DATABASE_URL: database.url,
      DATABASE_MIGRATION_URL: database.ownerUrl,
      PATH: path,
      LOG_LEVEL: 'error',
      DRAIN_SECONDS: String(DRAIN_SECONDS),
    });

  beforeAll(async () => {
    makers = await TestService.start({ database });
    merchant = await makers.merchant();
    path = processes.pathWithoutRedis();
    ports = [await freePort(), await freePort()];
    nginx = await Nginx.start(documented(ports));
  });
  afterAll(async () => {
    await nginx.stop();
    await processes.cleanUp();
    await makers.stop();
  });

  /** The configuration that the page of operations gives, for these ports. */
  function documented(servers: readonly number[]): string {
    const page = readFileSync('docs/operations.md', 'utf8');
    const block = /```nginx\n([^]*?)```/.exec(page)?.[1];
    if (block === undefined) throw new Error('docs/operations.md has no configuration of nginx');
    const lines = block.split('\n').filter((line) => !/^\s*(server [\w.-]+:\d+|ssl_\w+|server_name) ?/.test(line));
    const upstream = servers.map((port) => `  server 127.0.0.1:${port} max_fails=0;`).join('\n');
    return lines
      .join('\n')
      .replace(/(upstream recebe \{)/, `$1\n${upstream}`)
      .replace(/listen 443 ssl;/, 'listen 127.0.0.1:PORT;')
      .replace('keepalive_timeout 4s;', `keepalive_timeout ${DRAIN_SECONDS - 1}s;`);
  }

  /** @returns the status, or how the connection failed */
  function send(agent: Agent, n: number): Promise<string> {
    const isCharge = n % 4 === 0;
    const body = isCharge ? JSON.stringify({ amount: 100 + n }) : '';
    return new Promise((resolve) => {
      const sent = request(
        `${nginx.url}${isCharge ? '/v1/pix/charges' : '/v1/wallets'}`,
        {
          agent,
          method: isCharge ? 'POST' : 'GET',
          headers: {
            apikey: merchant.testKey,
            ...(isCharge && {
              'content-type': 'application/json',
              'content-length': body.length,
              'idempotency-key': `deploy-${n}-${randomBytes(4).toString('hex')}`,
            }),
          },
        },
        (response) => {
          response
            .resume()
            .on('end', () => resolve(String(response.statusCode)))
            .on('error', (error) => resolve(String(error)));
        },
      );
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      sent.end(body);
    });
  }

  it.each([
    ['POST', '/v1/charges', 2],
    ['POST', '/v1/pix/charges', 2],
    ['POST', '/v1/payments', 2],
    ['POST', '/v1/payments/tx_1/refund', 2],
    ['GET', '/v1/wallets', 2],
    ['POST', '/v1/payments/tx_1/cancel', 1],
    ['POST', '/v1/api-keys', 1],
    ['POST', '/v1/webhooks/endpoints', 1],
    ['POST', '/v1/med/cases/med_1/evidence', 1],
  ])('tries %s %s at %d processes if each breaks the connection', async (method, target, count) => {
    let seen = 0;
    const breaking = [0, 1].map(() => createServer(({ socket }) => (seen++, socket.destroy())));
    const servers = breaking.map((server) => server.listen(0, '127.0.0.1'));
    await Promise.all(servers.map((server) => once(server, 'listening')));
    const proxy = await Nginx.start(documented(servers.map((server) => (server.address() as AddressInfo).port)));
    expect((await fetch(proxy.url + target, { method })).status).toBe(502);
    await proxy.stop();
    for (const server of servers) server.close();
    expect(seen).toBe(count);
  });

  it(`loses none of ${REQUESTS} requests over ${CONNECTIONS} connections in three restarts`, async () => {
    const running = [await start(ports[0] ?? 0), await start(ports[1] ?? 0)];
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const outcomes: Record<string, number> = {};
    let sent = 0;
    let restarts = 0;
    const clients = Array.from({ length: CONNECTIONS }, async () => {
      // The load goes on until the last restart is over.
      while (sent < REQUESTS || restarts < 3) {
        const outcome = await send(agent, sent++);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        await delay(150);
      }
    });
    for (; restarts < 3; restarts++) {
      await delay(500);
      const at = restarts % 2;
      const { code } = (await running[at]?.kill('SIGTERM')) ?? {};
      expect(code).toBe(0);
      running[at] = await start(ports[at] ?? 0);
    }
    await Promise.all(clients);
    agent.destroy();
    expect(Object.keys(outcomes).sort()).toEqual(['200', '201']);
    expect(sent).toBeGreaterThanOrEqual(REQUESTS);
    process.stderr.write(`${JSON.stringify(outcomes)} in three restarts\n`);
    await expectLedgerCoherent(database.url);
  });
});
