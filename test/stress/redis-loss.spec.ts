import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { expectLedgerCoherent } from '../support/coherence.js';
import { deliveryStatuses, WebhookReceiver } from '../support/receiver.js';
import { describeWith } from '../support/needs.js';
import { startRedis, type TestRedis } from '../support/redis.js';
import { type Merchant, TestService } from '../support/service.js';
import { trial } from '../support/scale.js';
import { waitFor } from '../support/wait.js';

jest.setTimeout(120_000);

const CHARGES = trial(150, 40);

/**
 * An API process announces its commits to the worker process through Redis. The worker finds lost announcements by
 * itself, without a moved clock.
 */
describeWith('redis')('losing Redis loses no delivery', () => {
  let redis: TestRedis;
  let receiver: WebhookReceiver;
  let service: TestService;
  let worker: TestService;
  let merchant: Merchant;

  beforeEach(async () => {
    redis = await startRedis();
    receiver = await WebhookReceiver.start();
  });
  afterEach(async () => {
    receiver.release();
    await expectLedgerCoherent(service.database.url);
    await worker.stop();
    await service.stop();
    await receiver.stop();
    await redis.stop();
  });

  async function start(): Promise<void> {
    const env = {
      REDIS_URL: redis.url,
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      // On a machine so slow that an attempt times out behind the gate, the next one is not long in coming.
      WEBHOOK_RETRY_SCHEDULE: Array.from({ length: 30 }, () => 1).join(','),
      // On, because the limits live in Redis too; high, because this test is about something else.
      RATE_LIMIT: 'on',
      RATE_LIMIT_RATE: '100000',
      RATE_LIMIT_BURST: '100000',
    };
    service = await TestService.start({ env: { ...env, ROLE: 'api' } });
    worker = await TestService.start({ env: { ...env, ROLE: 'worker' }, database: service.database });
    merchant = await service.merchant();
    const body = { url: receiver.url, events: ['charge.created', 'charge.paid'] };
    const { status } = await service.call('POST', '/v1/webhooks/endpoints', { key: merchant.testKey, body });
    expect(status).toBe(201);
  }

  /** Several clients at once. @returns the ids of the charges, all of them answered 201 */
  async function create(count: number): Promise<string[]> {
    const answers = await inParallel(count, () => service.createCharge(merchant.testKey));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    return answers.map(({ body }) => body.id);
  }

  async function pay(ids: readonly string[]): Promise<void> {
    const answers = await inParallel(ids.length, (n) =>
      service.simulate(merchant.testKey, ids[n] ?? '', { event: 'pay' }),
    );
    expect(answers.map(({ status, body }) => [status, body.charge.status])).toEqual(answers.map(() => [200, 'paid']));
  }

  const statuses = (): Promise<Record<string, number>> => deliveryStatuses(service);

  /** Type and charge of each webhook that came. */
  const seen = (): string[] =>
    receiver.received.map(({ body }) => {
      const { type, data } = body as unknown as { type: string; data: { object: { id: string } } };
      return `${type} ${data.object.id}`;
    });

  /**
   * Creates deliveries that stay undelivered: the receiver answers nothing until it is opened. @returns the ids of
   * the charges
   */
  async function backlog(): Promise<string[]> {
    receiver.hold();
    const ids = await create(CHARGES);
    await waitFor(
      'the deliveries to be written',
      async () => {
        const { PENDING = 0, PROCESSING = 0, DELIVERED = 0 } = await statuses();
        return PENDING + PROCESSING === CHARGES && PROCESSING > 0 && DELIVERED === 0;
      },
      30_000,
    );
    return ids;
  }

  async function expectDelivered(types: readonly string[], ids: readonly string[]): Promise<void> {
    const count = types.length * ids.length;
    await waitFor(
      `all of ${count} deliveries to be made`,
      async () => (await statuses())['DELIVERED'] === count,
      60_000,
    );
    expect(await statuses()).toEqual({ DELIVERED: count });
    expect([...new Set(seen())].sort()).toEqual(types.flatMap((type) => ids.map((id) => `${type} ${id}`)).sort());
    expect(new Set(receiver.received.map(({ body }) => body['id'])).size).toBe(count);
  }

  it('when it is flushed in the middle of a backlog', async () => {
    await start();
    const ids = await backlog();
    await redis.flush();
    receiver.release();
    await expectDelivered(['charge.created'], ids);
  });

  it('when it is killed in the middle of a backlog and back empty, with charges made and paid meanwhile', async () => {
    await start();
    const ids = await backlog();
    await redis.kill();
    const meanwhile = await create(30);
    await pay(meanwhile);
    await redis.start();
    receiver.release();
    await waitFor('everything to be delivered', async () => (await statuses())['DELIVERED'] === CHARGES + 60, 60_000);
    for (const id of [...ids, ...meanwhile]) expect(seen()).toContain(`charge.created ${id}`);
    for (const id of meanwhile) expect(seen()).toContain(`charge.paid ${id}`);
  });

  it('when it is away from the start on: the API and the webhooks go on', async () => {
    await redis.kill();
    await start();
    const health = await service.call('GET', '/health/ready');
    expect(health).toMatchObject({ status: 200, body: { status: 'up', database: 'up', queue: 'down' } });

    const ids = await create(CHARGES);
    await pay(ids);
    const balance = await service.call('GET', '/v1/wallets/balance', { key: merchant.testKey });
    expect(balance).toMatchObject({ status: 200, body: { available: CHARGES * 1990 } });
    await expectDelivered(['charge.created', 'charge.paid'], ids);
    // Redis holds no leftovers that could repeat work on its return.
    await redis.start();
    const health2 = await waitFor('Redis to be back', async () => {
      const answer = await service.call('GET', '/health/ready');
      return answer.body['queue'] === 'up' ? answer : null;
    });
    expect(health2.status).toBe(200);
    const more = await create(5);
    await waitFor('those too', async () => (await statuses())['DELIVERED'] === 2 * CHARGES + 5, 30_000);
    expect(seen().filter((one) => more.some((id) => one.endsWith(id)))).toHaveLength(5);
    expect(receiver.received).toHaveLength(2 * CHARGES + 5);
  });

  it('when it is flushed again and again while charges are made and paid', async () => {
    await start();
    const ids: string[] = [];
    for (let round = 0; round < 8; round++) {
      const [made] = await Promise.all([create(20), redis.flush()]);
      ids.push(...made);
      await Promise.all([pay(made), redis.flush()]);
    }
    await expectDelivered(['charge.created', 'charge.paid'], ids);
  });
});

async function inParallel<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) results[n] = await work(n);
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return results;
}
