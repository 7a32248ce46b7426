import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { expectLedgerCoherent } from '../support/coherence.js';
import { Processes, type ServiceProcess } from '../support/process.js';
import { deliveryStatuses, WebhookReceiver } from '../support/receiver.js';
import { describeWith } from '../support/needs.js';
import { startRedis, type TestRedis } from '../support/redis.js';
import { type Merchant, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

jest.setTimeout(600_000);

const TIMEOUT_MS = 5_000;

describeWith('redis')('two worker processes against one PostgreSQL and Redis', () => {
  let redis: TestRedis;
  let receiver: WebhookReceiver;
  let api: TestService;
  let merchant: Merchant;
  let processes: Processes;
  let workers: ServiceProcess[];

  beforeEach(async () => {
    redis = await startRedis();
    receiver = await WebhookReceiver.start();
    processes = new Processes();
    const env = {
      REDIS_URL: redis.url,
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS),
      WEBHOOK_ALLOW_PRIVATE: 'true',
    };
    api = await TestService.start({ env: { ...env, ROLE: 'api' } });
    merchant = await api.merchant();
    workers = await Promise.all(
      [1, 2].map(() =>
        processes.start(processes.dataDir(), {
          ...env,
          ROLE: 'worker',
          HOST: '127.0.0.1',
          DATABASE_URL: api.database.url,
        }),
      ),
    );
  });
  afterEach(async () => {
    receiver.release();
    await expectLedgerCoherent(api.database.url);
    await processes.cleanUp();
    await api.stop();
    await receiver.stop();
    await redis.stop();
  });

  async function register(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const body = { url: `${receiver.url}/${n}`, events: ['charge.created'] };
      const { status } = await api.call('POST', '/v1/webhooks/endpoints', { key: merchant.testKey, body });
      expect(status).toBe(201);
    }
  }

  /** How often each delivery has come. */
  function times(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { headers } of receiver.received) {
      const id = String(headers['x-service-delivery-id']);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }

  /** Events that arrived at each endpoint */
  const events = (): Set<string> => new Set(receiver.received.map(({ body, path }) => `${String(body['id'])} ${path}`));

  async function create(count: number): Promise<void> {
    let left = count;
    const client = async (): Promise<void> => {
      while (left-- > 0) expect((await api.createCharge(merchant.testKey)).status).toBe(201);
    };
    await Promise.all(Array.from({ length: 6 }, client));
  }

  const statuses = (): Promise<Record<string, number>> => deliveryStatuses(api);

  const delivered = (count: number, limitMs: number): Promise<true> =>
    waitFor(`${count} deliveries`, async () => (await statuses())['DELIVERED'] === count, limitMs);

  /** Attempts of each worker that were successes, as its metrics say. */
  function shares(): Promise<number[]> {
    return Promise.all(workers.map((worker) => metric(worker, 'recebe_webhook_attempts_total{outcome="delivered"}')));
  }

  async function metric({ url }: { url: string }, name: string): Promise<number> {
    const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
    return Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1] ?? 0);
  }

  it('share the work without making an attempt twice', async () => {
    receiver.delayMs = 25;
    await register(6);
    await create(120);
    await delivered(720, 90_000);
    expect([...times().values()].filter((times) => times !== 1)).toEqual([]);
    expect(times().size).toBe(720);
    expect(events().size).toBe(720);
    expect(await api.sql('SELECT number, count(*)::int FROM webhook_attempts GROUP BY number')).toEqual([
      { number: 1, count: 720 },
    ]);
    const did = await waitFor('the metrics', async () => {
      const counts = await shares();
      return counts.reduce((sum, count) => sum + count, 0) === 720 ? counts : null;
    });
    for (const count of did) expect(count).toBeGreaterThan(72);
  });

  it('share a backlog to one endpoint that each of them could send alone', async () => {
    await register(1);
    await create(150);
    await delivered(150, 60_000);
    const before = await shares();
    // Repeats it, all at once and so slowly that one worker cannot finish before the other one looks.
    receiver.delayMs = 2_000;
    await api.sql(`UPDATE webhook_deliveries SET status = 'PENDING', attempts = 0, next_attempt_at = now()`);
    await waitFor('the backlog to be taken on', async () => (await statuses())['PROCESSING'] !== undefined);
    await delivered(150, 60_000);
    expect([...times().values()]).toEqual(Array.from({ length: 150 }, () => 2));
    const after = await shares();
    for (const [worker, count] of after.entries()) expect(count - (before[worker] ?? 0)).toBeGreaterThan(5);
  });

  it('deliver everything and make no attempt twice when one of them is killed with kill -9', async () => {
    await register(4);
    // An endpoint that answers may have several under way.
    await create(10);
    await delivered(40, 60_000);
    receiver.hold();
    const creating = create(50);
    await waitFor('the receiver to hold some', () => receiver.held >= 20, 30_000);
    const holding = await Promise.all(workers.map((worker) => metric(worker, 'recebe_webhook_held')));
    const victim = workers[holding.indexOf(Math.max(...holding))];
    await victim?.kill('SIGKILL');
    // Deliveries that the killed worker had claimed, on their way or not yet seen by the receiver.
    const atRisk = (await statuses())['PROCESSING'] ?? 0;
    receiver.release();
    await creating;
    // The lease is the time an attempt may take and half a minute.
    await delivered(240, TIMEOUT_MS + 90_000);
    expect(await statuses()).toEqual({ DELIVERED: 240 });
    expect(times().size).toBe(240);
    expect(events().size).toBe(240);
    const came = times();
    const again = [...came.values()].filter((times) => times > 1);
    expect(again.length).toBeGreaterThan(0);
    expect(again.length).toBeLessThanOrEqual(atRisk);
    const rows = await api.sql<{ id: string; attempts: number }>('SELECT id, attempts FROM webhook_deliveries');
    for (const { id, attempts } of rows) expect(came.get(`wd_${id}`)).toBeLessThanOrEqual(attempts);
  });

  it('send nothing twice and wait for no lease when one of them is stopped in order', async () => {
    receiver.delayMs = 150;
    await register(4);
    const creating = create(80);
    await waitFor('some to have arrived', () => times().size > 60, 30_000);
    const [leaving] = workers;
    const { code } = (await leaving?.kill('SIGTERM')) ?? {};
    expect(code).toBe(0);
    await creating;
    await delivered(320, 30_000);
    expect([...times().values()].filter((times) => times !== 1)).toEqual([]);
    expect(times().size).toBe(320);
    expect(await api.sql('SELECT number, count(*)::int FROM webhook_attempts GROUP BY number')).toEqual([
      { number: 1, count: 320 },
    ]);
  });
});
