import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { WebhookReceiver } from '../../support/receiver.js';
import { describeWith } from '../../support/needs.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { aPaidCharge, paymentIdOf, requestRefund } from '../../support/refunds.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

describeWith('redis')('work between processes', () => {
  let redis: TestRedis;
  let receiver: WebhookReceiver;
  let api: TestService;
  let merchant: Merchant;
  let endpoint: string;
  let env: Record<string, string>;

  /** @param periodic whether its periodic tasks run, or only what is woken */
  const startWorker = (periodic: boolean): Promise<TestService> =>
    TestService.start({
      database: api.database,
      env: { ...env, ROLE: 'worker' },
      ...(periodic ? {} : { overrides: { timer: () => () => undefined } }),
    });

  /** Sends a sample through the API process, which has no workers. */
  async function sample(): Promise<void> {
    const path = `/v1/webhooks/endpoints/${endpoint}/test`;
    const { status } = await api.call('POST', path, { key: merchant.testKey, body: { event: 'charge.paid' } });
    expect(status).toBe(200);
  }

  beforeAll(async () => {
    redis = await startRedis();
    receiver = await WebhookReceiver.start();
    env = { REDIS_URL: redis.url, ENCRYPTION_KEY: randomBytes(32).toString('hex') };
    api = await TestService.start({ env: { ...env, ROLE: 'api' } });
    merchant = await api.merchant();
    const made = await api.call<{ id: string }>('POST', '/v1/webhooks/endpoints', {
      key: merchant.testKey,
      body: { url: receiver.url, events: ['charge.paid'] },
    });
    endpoint = made.body.id;
  });
  afterAll(async () => {
    await api.stop();
    await receiver.stop();
    await redis.stop();
  });

  it('deliveries of another process are sent by a job in Redis, without polling', async () => {
    const worker = await startWorker(false);
    try {
      for (let count = 1; count <= 5; count++) {
        await sample();
        await waitFor('the webhook', () => receiver.received.length === count);
      }
      await waitFor('no job to be left', async () => {
        const keys = await redis.command('KEYS', '{recebe}:deliveries:????????-*');
        return keys === '*0';
      });
    } finally {
      await worker.stop();
    }
  });

  it('late work of another process is begun by a job in Redis', async () => {
    const charge = await aPaidCharge(api, merchant.testKey);
    const worker = await startWorker(false);
    try {
      expect((await requestRefund(api, merchant.testKey, paymentIdOf(charge))).status).toBe(201);
      await waitFor('the refund to be begun', async () => {
        const [refund] = await api.sql<{ status: string }>('SELECT status FROM refunds');
        return refund?.status !== 'PENDING';
      });
    } finally {
      await worker.stop();
    }
  });

  it('deliveries of another process are sent by polling while Redis is away', async () => {
    const worker = await startWorker(true);
    try {
      const before = receiver.received.length;
      await redis.kill();
      await sample();
      await waitFor('the webhook', () => receiver.received.length > before);
    } finally {
      await redis.start();
      await worker.stop();
    }
  });
});
