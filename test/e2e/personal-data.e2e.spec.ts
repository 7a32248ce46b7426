import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { createLogger } from '../../src/core/log/index.js';
import { WebhookReceiver } from '../support/receiver.js';
import { startRedis, type TestRedis } from '../support/redis.js';
import { type Merchant, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

jest.setTimeout(60_000);

/** Nobody else's: each is looked for in everything that is stored. */
const PERSON = {
  name: 'Zenobia Quaresma Xisto',
  document: '52998224725',
  email: 'zenobia.xisto@payer.example',
  phone: '11987650123',
};

describe('what one payer is asked for', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
  const logged: string[] = [];
  let redis: TestRedis;
  let service: TestService;
  let receiver: WebhookReceiver;
  let merchant: Merchant;

  beforeAll(async () => {
    mkdirSync(dataDir, { recursive: true });
    redis = await startRedis();
    receiver = await WebhookReceiver.start();
    const logger = createLogger('trace', { write: (line) => logged.push(line) });
    service = await TestService.start({
      env: { DATA_DIR: dataDir, REDIS_URL: redis.url, RATE_LIMIT: 'on' },
      overrides: { logger },
    });
    merchant = await service.merchant();
    const key = merchant.testKey;
    const hook = { url: receiver.url, events: ['*'] };
    await service.call('POST', '/v1/webhooks/endpoints', { key, body: hook });
    const charge = await service.createCharge(key, { customer: PERSON });
    expect(charge.status).toBe(201);
    await service.simulate(key, charge.body.id, { event: 'pay' });
    const payment = {
      ...{ amount: 500, paymentMethods: ['PIX'], idempotencyKey: 'payment-of-one-person' },
      ...{ customerName: PERSON.name, customerDocument: PERSON.document, customerEmail: PERSON.email },
    };
    expect((await service.call('POST', '/v1/payments', { key, body: payment })).status).toBe(201);
    await service.call('GET', `/v1/payments?search=${encodeURIComponent(PERSON.email)}`, { key });
    await waitFor('the webhooks', async () => {
      const [open] = await service.sql<{ waiting: boolean }>(
        `SELECT EXISTS (SELECT FROM events WHERE status = 'pending')
           OR EXISTS (SELECT FROM webhook_deliveries WHERE status <> 'DELIVERED') AS waiting`,
      );
      return open?.waiting === false && receiver.received.length >= 3;
    });
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const found = (text: string): boolean => Object.values(PERSON).some((mark) => text.includes(mark));

  it('is sent to the merchant as it was given, and an answer is repeated to the byte', async () => {
    expect(receiver.received.some(({ rawBody }) => found(rawBody))).toBe(true);
    const key = merchant.testKey;
    const first = await service.createCharge(key, { customer: PERSON }, 'a-key-that-is-repeated');
    const again = await service.createCharge(key, { customer: PERSON }, 'a-key-that-is-repeated');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).toBe(first.text);
    expect(found(first.text)).toBe(true);
  });

  it('lies in clear text in the transaction and its events, and in no other table', async () => {
    const rows = await service.rows();
    const tables = new Set(rows.filter(({ text }) => found(text)).map(({ table }) => table));
    expect([...tables].sort()).toEqual(['events', 'transactions']);
    for (const table of ['idempotency_keys', 'webhook_messages', 'webhook_attempts', 'settlements']) {
      expect(rows.some((row) => row.table === table)).toBe(true);
    }
  });

  it('lies in no log, no file and not in Redis', async () => {
    expect(logged.length).toBeGreaterThan(3);
    expect(logged.filter(found)).toEqual([]);
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    // Where there is no mail server, a file stands for the mail that was sent: the receipt, to this person.
    const kept = files.filter((file) => !file.name.endsWith('.eml'));
    const texts = kept.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'));
    expect(files.length).toBeGreaterThan(kept.length);
    expect(texts.filter(found)).toEqual([]);
    const client = new Redis(redis.url);
    const keys = await client.keys('*');
    const dumps = await Promise.all(keys.map(async (name) => `${name} ${String(await client.dumpBuffer(name))}`));
    client.disconnect();
    expect(keys.length).toBeGreaterThan(0);
    expect(dumps.filter(found)).toEqual([]);
  });
});
