import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { createLogger } from '../../../src/core/log/index.js';
import { runCli } from '../../support/cli.js';
import { describeWith } from '../../support/needs.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const ENCRYPTION_KEY = 'd4'.repeat(32);
/** Unique values that are searched in everything that is stored */
const PERSON = {
  name: 'Zenobia Quaresma Xisto',
  document: '52998224725',
  email: 'zenobia.xisto@payer.example',
  phone: '11987650123',
};

interface Answer {
  transactions: { transaction_id: string; status: string; amount: number; end_to_end_id: string | null }[];
  erased: Record<string, number>;
  kept: { waiting: { transaction_id: string; reason: string }[] };
}

/** A sealed text and what binds it to its row. */
interface Sealed extends Record<string, unknown> {
  box: string;
  context: string;
}

describeWith('redis')('the personal data of one payer', () => {
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
      env: { DATA_DIR: dataDir, ENCRYPTION_KEY, REDIS_URL: redis.url, RATE_LIMIT: 'on' },
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
    expect(await search(PERSON.email)).toBe(2);
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

  /** @returns how many sales have exactly this */
  async function search(query: string): Promise<number> {
    const path = `/v1/payments?query=${encodeURIComponent(query)}`;
    const { status, body } = await service.call<{ total: number }>('GET', path, { key: merchant.testKey });
    expect(status).toBe(200);
    return body.total;
  }

  const found = (text: string): boolean => Object.values(PERSON).some((mark) => text.includes(mark));

  /** Expects that data of an order in case events is erased with the customer, once the case is over. */
  async function expectCasesErased(answered: (...args: string[]) => Promise<Answer>): Promise<void> {
    const key = merchant.testKey;
    const mark = 'a-word-about-the-order-of-the-case';
    const customer = { name: 'Yolanda Quaresma', email: 'yolanda@payer.example' };
    const { body: charge } = await service.createCharge(key, { customer, metadata: { mark } });
    for (const event of ['pay', 'med_open']) await service.simulate(key, charge.id, { event });
    const erase = ['erase-customer', merchant.accountId, '--email', customer.email, '--metadata'];
    const waits = (await answered(...erase)).kept.waiting.map(({ reason }) => reason);
    expect(waits).toEqual(['open_med_case']);
    await service.simulate(key, charge.id, { event: 'med_rule', result: 'disagreed' });
    await waitFor('the webhooks of the case', () =>
      receiver.received.some(({ body, rawBody }) => body['type'] === 'med.resolved' && rawBody.includes(mark)),
    );
    const ofCase = async (): Promise<string[]> => {
      const sealed = await service.sql<Sealed>(
        `SELECT customer_sealed AS box, 'event:' || id AS context FROM events WHERE type LIKE 'med\\_case.%'
         UNION ALL
         SELECT payload, 'webhook_message:' || id FROM webhook_messages WHERE event_type LIKE 'med%'`,
      );
      const secrets = new SecretBox(ENCRYPTION_KEY);
      return sealed.map(({ box, context }) => secrets.openText(box, context));
    };
    const before = await ofCase();
    expect(before.length).toBeGreaterThanOrEqual(6);
    expect(before.filter((text) => text.includes(mark))).toEqual(before);
    expect((await service.rows()).filter(({ text }) => text.includes(mark)).map(({ table }) => table)).toEqual([
      'transactions',
    ]);
    const erased = await waitFor('the last delivery', async () => {
      const answer = await answered(...erase);
      return answer.kept.waiting.length === 0 ? answer : null;
    });
    expect(erased.erased['events']).toBeGreaterThan(0);
    expect((await ofCase()).filter((text) => text.includes(mark))).toEqual([]);
    expect((await service.rows()).filter(({ text }) => text.includes(mark))).toEqual([]);
  }

  it('is sent to the merchant as it was given, and a repeated answer is equal to the byte', async () => {
    expect(receiver.received.some(({ rawBody }) => found(rawBody))).toBe(true);
    const key = merchant.testKey;
    const first = await service.createCharge(key, { customer: PERSON }, 'a-key-that-is-repeated');
    const again = await service.createCharge(key, { customer: PERSON }, 'a-key-that-is-repeated');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).toBe(first.text);
    expect(found(first.text)).toBe(true);
  });

  it.each([
    ['the document', PERSON.document],
    ['the document as people write it', '529.982.247-25'],
    ['the e-mail', PERSON.email],
    ['the e-mail in capitals', PERSON.email.toUpperCase()],
    ['the name', PERSON.name],
  ])('is found by %s', async (_what, query) => {
    expect(await search(query)).toBe(3);
  });

  it('is in clear text in the transaction, and in no other table', async () => {
    const rows = await service.rows();
    const tables = new Set(rows.filter(({ text }) => found(text)).map(({ table }) => table));
    expect([...tables]).toEqual(['transactions']);
    for (const table of ['events', 'idempotency_keys', 'webhook_messages', 'webhook_attempts', 'settlements']) {
      expect(rows.some((row) => row.table === table)).toBe(true);
    }
  });

  it('is in no log or file and not in Redis', async () => {
    expect(logged.length).toBeGreaterThan(3);
    expect(logged.filter(found)).toEqual([]);
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    // Without a mail server a file holds the sent mail: the receipt for this person.
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

  it('is exported and erased on request: open sales wait, and then no data of the person is left', async () => {
    const key = merchant.testKey;
    const account = (...args: string[]) =>
      runCli(['account', ...args], {
        ...{ DATABASE_URL: service.database.url, DATA_DIR: dataDir, ENCRYPTION_KEY },
      });
    const answered = async (...args: string[]): Promise<Answer> => {
      const { code, stdout, stderr } = await account(...args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout) as Answer;
    };
    const exported = await answered('export-customer', merchant.accountId, '--tax-id', '529.982.247-25');
    expect(exported.transactions).toHaveLength(3);
    const fields = { customer_name: PERSON.name, customer_document: PERSON.document, customer_email: PERSON.email };
    for (const transaction of exported.transactions) expect(transaction).toMatchObject(fields);
    const other = await service.createCharge(key, { customer: { name: 'Somebody Else', document: '11144477735' } });
    const erase = ['erase-customer', merchant.accountId, '--email', PERSON.email.toUpperCase()];
    const first = await answered(...erase);
    expect(first.erased).toMatchObject({ transactions: 1, settlements: 1 });
    expect(first.kept.waiting.map(({ reason }) => reason)).toEqual(['open_charge', 'open_charge']);
    const paid = exported.transactions.find(({ status }) => status === 'PAID');
    const books = 'SELECT id::text, status, amount, end_to_end_id, paid_at FROM transactions WHERE id = $1';
    expect(await service.sql(books, [paid?.transaction_id])).toMatchObject([
      { status: 'PAID', amount: String(paid?.amount), end_to_end_id: paid?.end_to_end_id },
    ]);

    for (const { transaction_id: id } of first.kept.waiting) {
      await service.simulate(key, id, { event: 'pay' });
    }
    await waitFor('the webhooks', async () => {
      const [open] = await service.sql<{ waiting: boolean }>(
        `SELECT EXISTS (SELECT FROM events WHERE status = 'pending')
           OR EXISTS (SELECT FROM webhook_deliveries WHERE status <> 'DELIVERED')
           OR EXISTS (SELECT FROM transactions WHERE customer_document = $1 AND status = 'WAITING_PAYMENT') AS waiting`,
        [PERSON.document],
      );
      return open?.waiting === false;
    });
    const fingerprints = 'SELECT fingerprint FROM idempotency_keys WHERE resource_id = $1';
    const before = await service.sql(fingerprints, [first.kept.waiting[0]?.transaction_id]);
    const second = await answered(...erase);
    expect(before).toHaveLength(1);
    // A fingerprint of a body with only the document unknown would reveal the document.
    expect(await service.sql(fingerprints, [first.kept.waiting[0]?.transaction_id])).not.toEqual(before);
    expect(second).toMatchObject({ erased: { transactions: 2 }, kept: { waiting: [] } });
    expect((await answered(...erase)).erased).toMatchObject({ transactions: 0, events: 0, webhook_messages: 0 });

    for (const query of Object.values(PERSON)) expect(await search(query)).toBe(0);
    const secrets = new SecretBox(ENCRYPTION_KEY);
    const sealed = [
      ...(await service.sql<Sealed>(
        `SELECT payload AS box, 'webhook_message:' || id AS context FROM webhook_messages`,
      )),
      ...(await service.sql<Sealed>(
        `SELECT response_body AS box, 'idempotency:' || account_id || '/' || mode || '/' || operation || '/' || key AS context
         FROM idempotency_keys WHERE response_body IS NOT NULL`,
      )),
      ...(await service.sql<Sealed>(
        `SELECT customer_sealed AS box, 'event:' || id AS context FROM events WHERE customer_sealed IS NOT NULL`,
      )),
    ];
    const opened = sealed.map(({ box, context }) => secrets.openText(box, context));
    expect(opened.filter((text) => text.includes('Somebody Else')).length).toBeGreaterThan(2);
    expect(opened.filter(found)).toEqual([]);
    expect((await service.rows()).filter(({ text }) => found(text))).toEqual([]);
    const again = await service.createCharge(key, { customer: PERSON }, 'a-key-that-is-repeated');
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(exported.transactions.map(({ transaction_id }) => transaction_id)).toContain(
      again.body.id.replace(/^ch_/, ''),
    );
    expect(found(again.text)).toBe(false);
    expect((await service.call('GET', `/v1/charges/${other.body.id}`, { key })).text).toContain('Somebody Else');
    const audited = await service.sql<{ type: string; n: number }>(
      `SELECT type, count(*)::int AS n FROM audit_events WHERE type LIKE 'customer.%' GROUP BY type ORDER BY type`,
    );
    expect(audited).toEqual([
      { type: 'customer.erased', n: 3 },
      { type: 'customer.exported', n: 1 },
    ]);
    await expectCasesErased(answered);
    const nobody = await account('erase-customer', merchant.accountId);
    expect(nobody).toMatchObject({ code: 2, stderr: 'Say who it is by --tax-id, --email or --phone.\n' });
  });
});
