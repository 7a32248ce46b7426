import { createHash, createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { AccountsService } from '../../src/accounts/index.js';
import { SYSTEM } from '../../src/audit/index.js';
import { createLogger } from '../../src/core/log/index.js';
import { WebhookReceiver } from '../support/receiver.js';
import { redisAvailable, startRedis, type TestRedis } from '../support/redis.js';
import { type Answer, type Merchant, PASSWORD, TestService } from '../support/service.js';
import { JWT_SECRET } from '../support/tokens.js';
import { waitFor } from '../support/wait.js';

/** Stored with the charge, as the merchant sent it. */
const CUSTOMER = '52998224725';
/** As the bank reported the payer. */
const PAYER = '39053344705';
/** The Pix key that a refund goes to, somebody else's CPF. */
const DESTINATION = '11144477735';

const withRedis = redisAvailable();
const itWithRedis = withRedis ? it : it.skip;

describe('after everything has been done once', () => {
  let service: TestService;
  let redis: TestRedis | null = null;
  const watchers: Redis[] = [];
  let receiver: WebhookReceiver;
  let merchant: Merchant;
  const logged: string[] = [];
  const errors: string[] = [];
  const answers: string[] = [];
  /** Whatever any process told Redis: jobs, limits. */
  const toRedis: string[] = [];
  /** By name; each must be found nowhere. */
  const secrets = new Map<string, string>([
    ['a password', PASSWORD],
    ['a wrong password', `wrong ${randomUUID()}`],
    ['the key of the tokens', JWT_SECRET],
    ['a password of an invited member', `chosen ${randomUUID()}`],
  ]);

  async function call(method: string, path: string, options: Parameters<TestService['call']>[2] = {}): Promise<Answer> {
    const answer = await service.call(method, path, options);
    answers.push(answer.text);
    if (answer.status >= 400) errors.push(`${JSON.stringify([...answer.headers])} ${answer.text}`);
    return answer;
  }
  function keep(name: string, value: unknown): string {
    if (typeof value !== 'string' || value.length < 8) throw new Error(`${name} is ${String(value)}`);
    secrets.set(name, value);
    return value;
  }
  const secret = (name: string): string => secrets.get(name) ?? '';

  async function watchRedis(): Promise<TestRedis> {
    const started = await startRedis();
    const client = new Redis(started.url);
    const watcher = await client.monitor();
    watcher.on('monitor', (_time: string, args: string[]) => toRedis.push(args.join(' ')));
    watchers.push(client, watcher);
    return started;
  }

  beforeAll(async () => {
    if (withRedis) redis = await watchRedis();
    receiver = await WebhookReceiver.start();
    const logger = createLogger('trace', { write: (line) => logged.push(line) });
    service = await TestService.start({
      env: {
        ...{ JWT_SECRET, RATE_LIMIT: 'on', WEBHOOK_RETRY_SCHEDULE: '0,0' },
        ...(redis && { REDIS_URL: redis.url }),
      },
      overrides: { logger },
    });
    merchant = await service.merchant({ payer_lock: 'true' });
    keep('a test key', merchant.testKey);
    keep('a live key', merchant.liveKey);
    await people();
    await money();
    await payments();
    await webhooks();
    await mistakes();
    await staff();
    await service.get(AccountsService).set(merchant.accountId, { fee_bps: '10' }, SYSTEM);
    // Request logs and hits of the fraud guard are written a moment after the answer.
    const last = await call('GET', '/v1/wallets', { key: merchant.testKey });
    await waitFor('everything to be written', async () => {
      const rows = await service.sql('SELECT 1 FROM request_logs WHERE request_id = $1', [
        last.headers.get('x-request-id'),
      ]);
      return rows.length > 0 && (await service.sql('SELECT 1 FROM fraud_hits')).length > 0;
    });
  }, 60_000);

  afterAll(async () => {
    await service.stop();
    await receiver.stop();
    for (const watcher of watchers) watcher.disconnect();
    await redis?.stop();
  });

  /** What a bank or a payer does to a charge. */
  const simulate = (id: string, body: object): Promise<Answer> =>
    call('POST', `/v1/sandbox/charges/${id}/simulate`, { key: merchant.testKey, body });

  /** Logins, keys and members. */
  async function people(): Promise<void> {
    const login = (password: string, email = merchant.ownerEmail): Promise<Answer> =>
      call('POST', '/v1/auth/login', { body: { email, password } });
    await login(secret('a wrong password'));
    await login(PASSWORD, `nobody-${randomUUID()}@example.com`);
    const token = keep('a token', (await login(PASSWORD)).body['access_token']);
    const issued = await call('POST', '/v1/api-keys', { token, body: { test: true } });
    keep('an issued key', issued.body['apiKey']);
    const rotated = await call('POST', `/v1/api-keys/${String(issued.body['id'])}/rotate`, { token });
    keep('a rotated key', rotated.body['apiKey']);
    await call('DELETE', `/v1/api-keys/${String(rotated.body['id'])}`, { token });
    const invited = await call('POST', '/v1/members', { token, body: { email: 'guest@example.com', role: 'ADMIN' } });
    const invitation = keep('an invitation', (invited.body['invitation'] as { token: string }).token);
    const body = { token: invitation, password: secret('a password of an invited member') };
    await call('POST', '/v1/auth/accept-invitation', { body });
    await call('POST', '/v1/auth/accept-invitation', { body });
    await login(secret('a password of an invited member'), 'guest@example.com');
    const other = keep('a token that was ended', (await login(PASSWORD)).body['access_token']);
    await call('POST', '/v1/auth/logout', { token: other });
    await call('GET', '/v1/api-keys', { token: other });
    await call('GET', '/v1/api-keys', { key: rotated.body['apiKey'] as string });
  }

  /** Charges that are paid by whom they should and by others, and webhooks that arrive and that fail. */
  async function money(): Promise<void> {
    const key = merchant.testKey;
    const endpoint = await call('POST', '/v1/webhooks/endpoints', {
      key,
      body: { url: receiver.url, events: ['*', 'payment.completed', 'payment.failed'] },
    });
    keep('a webhook secret', endpoint.body['secret']);
    const make = async (body: object = {}): Promise<string> =>
      (await service.createCharge(key, { customer: { name: 'Maria', document: CUSTOMER }, ...body })).body.id;
    await simulate(await make(), { event: 'pay', payer_document: PAYER, payer_name: 'Quem Pagou' });
    const locked = { expected_payer_tax_id: CUSTOMER };
    await simulate(await make(locked), { event: 'pay', payer_document: PAYER });
    await simulate(await make(locked), { event: 'pay', payer_document: null });
    await simulate(await make(), { event: 'fail' });
    await receiver.waitForType('charge.paid');
    receiver.answer = 500;
    await simulate(await make(), { event: 'expire' });
    await deliveriesEnd();
    await receiver.waitForType('charge.expired', 2);
    receiver.answer = 200;
  }

  async function deliveriesEnd(): Promise<void> {
    await waitFor('the deliveries to end', async () => {
      // Past the pauses of the circuit breaker.
      service.clock.advance(5);
      const open = await service.sql(`SELECT 1 FROM webhook_deliveries WHERE status IN ('PENDING', 'PROCESSING')`);
      return open.length === 0;
    });
  }

  /** A payment with webhooks of its own, by who is not the customer; its refunds, receipt and whatever can be asked. */
  async function payments(): Promise<void> {
    const key = merchant.testKey;
    const rotate = async (name: string): Promise<unknown> =>
      keep(name, (await call('POST', '/v1/webhooks/default-secret/rotate', { key, body: {} })).body['secret']);
    await rotate('a default secret that was rotated');
    await rotate('a default secret');
    const body = {
      amount: 5_000,
      paymentMethods: ['PIX', 'BOLETO'],
      customerName: 'Maria',
      customerDocument: CUSTOMER,
    };
    const make = async (): Promise<string> => {
      const own = { webhookUrl: receiver.url, idempotencyKey: randomUUID() };
      const made = await call('POST', '/v1/payments', { key, body: { ...body, ...own } });
      expect(made.status).toBe(201);
      return String(made.body['id']);
    };
    const id = await make();
    await simulate(id, { event: 'pay', payer_document: PAYER, payer_name: 'Quem Pagou' });
    await receiver.waitForType('payment.completed', 2);
    const refund = (refunded: string, asked: object): Promise<Answer> =>
      call('POST', `/v1/payments/${refunded}/refund`, { key, body: { idempotencyKey: randomUUID(), ...asked } });
    for (const asked of [
      { amount: 1_000, strategy: 'cashout', destinationKey: DESTINATION, reason: 'a cashout to a key' },
      { amount: 1_000, strategy: 'cashout', reason: 'a cashout to the payer' },
      { amount: 1_000, strategy: 'devolution', reason: 'a devolution' },
    ]) {
      expect((await refund(id, asked)).status).toBe(201);
    }
    await simulate(id, { event: 'refund_fail' });
    await refund(id, { amount: 500, strategy: 'cashout', destinationKey: DESTINATION });
    await waitFor('the refunds to end', async () => {
      service.clock.advance(1);
      const open = await service.sql(`SELECT 1 FROM refunds WHERE status IN ('PENDING', 'IN_PROGRESS')`);
      return open.length === 0;
    });
    const unpaid = await make();
    for (const each of [id, unpaid]) {
      for (const path of ['', '/receipt', '/provider-status', '/refunds']) {
        await call('GET', `/v1/payments/${each}${path}`, { key });
      }
      await call('POST', `/v1/payments/${each}/resend-webhook`, { key });
    }
    for (const asked of [
      { amount: 5_000, strategy: 'cashout', destinationKey: DESTINATION },
      { strategy: 'devolution', destinationKey: DESTINATION },
      { strategy: 'cashout', destinationKey: `${DESTINATION}0` },
    ]) {
      expect((await refund(id, asked)).status).toBe(400);
    }
    expect((await refund(unpaid, { destinationKey: DESTINATION })).status).toBe(400);
    await call('POST', `/v1/payments/${unpaid}/cancel`, { key });
    await call('GET', `/v1/payments?search=${CUSTOMER}`, { key });
    await deliveriesEnd();
  }

  /** Secrets that are rotated, and shown to the service to find out why a signature fails. */
  async function webhooks(): Promise<void> {
    const key = merchant.testKey;
    const endpoint = await call('POST', '/v1/webhooks/endpoints', { key, body: { url: receiver.url, events: ['*'] } });
    keep('a webhook secret that was rotated', endpoint.body['secret']);
    const path = `/v1/webhooks/endpoints/${String(endpoint.body['id'])}`;
    const rotate = async (name: string, body: object): Promise<unknown> =>
      keep(name, (await call('POST', `${path}/rotate-secret`, { key, body })).body['secret']);
    await rotate('a webhook secret that signs in an overlap', {});
    await rotate('a webhook secret of today', { overlap_seconds: 3_600 });
    await call('POST', `${path}/test`, { key, body: { event: 'charge.paid' } });
    await deliveriesEnd();
    const [canonical] = receiver.ofType('charge.paid').slice(-1);
    const [legacy] = receiver.ofType('payment.completed').slice(-1);
    const reasons = new Set<unknown>();
    for (const webhook of [canonical, legacy]) {
      for (const name of [...secrets.keys()].filter((each) => /webhook|default|key/.test(each))) {
        for (const payload of [webhook?.rawBody, JSON.stringify(webhook?.body, null, 2)]) {
          const body = { payload, headers: webhook?.headers, secret: secret(name) };
          const verified = await call('POST', '/v1/webhooks/verify', { key, body });
          expect(verified.status).toBe(200);
          reasons.add(verified.body['reason']);
        }
      }
    }
    expect(reasons.size).toBeGreaterThan(3);
    const [today] = [secret('a webhook secret of today')];
    for (const body of [
      { payload: today, headers: { [today]: 1 }, secret: today },
      { payload: today, headers: today, secret: today.repeat(20) },
      { payload: { today }, headers: {}, secret: [today] },
    ]) {
      expect((await call('POST', '/v1/webhooks/verify', { key, body })).status).toBe(400);
    }
    await call('DELETE', path, { key });
  }

  /** Operators change settings, and decide about payments of nobody knows whom. */
  async function staff(): Promise<void> {
    const { token } = await service.operator();
    keep('a token of an operator', token);
    const { accountId, testKey: key } = merchant;
    const path = '/v1/operations';
    const body = { name: 'Livraria', email: 'livraria@example.com', password: PASSWORD };
    for (let time = 0; time < 2; time++) await call('POST', `${path}/accounts`, { token, body });
    const change = (settings: object): Promise<Answer> =>
      call('PATCH', `${path}/accounts/${accountId}`, { token, body: settings });
    await change({ fraud_blocked_documents: [CUSTOMER], fraud_velocity: '1' });
    await change({ fraud_blocked_documents: [CUSTOMER] });
    const blocked = await service.createCharge(key, { customer: { document: CUSTOMER } });
    errors.push(blocked.text);
    expect(blocked.status).toBe(403);
    await change({ fraud_blocked_documents: [] });
    for (const decisions of [
      ['accept', 'return'],
      ['return', 'accept'],
    ]) {
      const { reviewId } = await service.heldCharge(key, { customer: { name: 'Maria', document: CUSTOMER } });
      for (const decision of decisions) await call('POST', `${path}/reviews/${reviewId}/${decision}`, { token });
    }
    for (const list of ['accounts', 'reviews', 'unmatched', 'fraud-hits'])
      await call('GET', `${path}/${list}`, { token });
    for (const value of [merchant.testKey, token, CUSTOMER]) {
      await call('GET', `${path}/accounts/${value.slice(0, 190)}`, { token });
      await call('GET', `/v1/request-logs?apiKeyFingerprint=${value}`, { token });
    }
  }

  /** Secrets where they do not belong. */
  async function mistakes(): Promise<void> {
    const key = merchant.testKey;
    for (const name of ['a test key', 'a token', 'a webhook secret', 'a default secret', 'a password']) {
      const value = secret(name);
      const path = encodeURIComponent(value).slice(0, 200);
      await call('GET', `/v1/charges/${path}`, { key });
      await call('GET', `/v1/wallets/balance?currency=${path}`, { key });
      await call('GET', `/v1/nowhere/${path}?key=${path}`);
      await call('GET', '/v1/wallets', { key: `${value} ` });
      await call('GET', '/v1/api-keys', { headers: { authorization: `Basic ${value}` } });
      await call('POST', '/v1/auth/login', { body: { email: value, password: value } });
      await call('POST', '/v1/auth/login', { body: { email: 1, password: { value } } });
      await call('POST', '/v1/charges', {
        key,
        rawBody: `{"amount": "${value}`,
        headers: { 'Idempotency-Key': 'mistaken' },
      });
      await call('POST', '/v1/charges', {
        key,
        body: { amount: value, payment_method: value, customer: { document: value, email: value } },
        headers: { 'Idempotency-Key': `mistake-${randomUUID()}` },
      });
      await call('POST', '/v1/webhooks/endpoints', { key, body: { url: value, events: ['charge.paid'] } });
    }
    await service.createCharge(key, { customer: { document: `${CUSTOMER}0` } });
    await service.sql('ALTER TABLE transactions ADD CONSTRAINT transactions_no_check CHECK (false) NOT VALID');
    const failed = await service.createCharge(key, { customer: { document: CUSTOMER } });
    errors.push(failed.text);
    expect(failed.status).toBe(500);
    await service.sql('ALTER TABLE transactions DROP CONSTRAINT transactions_no_check');
  }

  function found(where: readonly string[], forms: (value: string) => string[], values = secrets): string[] {
    return [...values].flatMap(([name, value]) =>
      where
        .filter((text) => forms(value).some((form) => text.includes(form)))
        .map((text) => `${name}: ${text.slice(0, 300)}`),
    );
  }
  const plain = (value: string): string[] => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];

  it('something was logged and refused, so that there is something to search', () => {
    expect(logged.length).toBeGreaterThan(60);
    expect(logged.some((line) => line.includes('request failed'))).toBe(true);
    expect(errors.length).toBeGreaterThan(30);
    expect(secrets.size).toBe(18);
  });

  itWithRedis('something was told to Redis, too', () => {
    expect(toRedis.length).toBeGreaterThan(50);
    expect(toRedis.some((told) => told.includes('fraud:'))).toBe(true);
  });

  it('no secret is in a log line', () => {
    expect(found(logged, plain)).toEqual([]);
  });

  it('no secret is in an error', () => {
    expect(found(errors, plain)).toEqual([]);
  });

  const documents = new Map([
    ['customer', CUSTOMER],
    ['payer', PAYER],
    ['destination', DESTINATION],
  ]);
  const dotted = (value: string): string[] => [value, value.replace(/^(\d{3})(\d{3})(\d{3})(\d\d)$/, '$1.$2.$3-$4')];

  it('no document is in a log line or an error', () => {
    expect(found([...logged, ...errors], dotted, documents)).toEqual([]);
  });

  it('what the bank reported of the payer, and where a refund went, is in no answer', () => {
    const hidden = new Map([...documents].filter(([name]) => name !== 'customer'));
    expect(answers.some((text) => text.includes(CUSTOMER))).toBe(true);
    expect(found(answers, dotted, hidden)).toEqual([]);
  });

  itWithRedis('no secret is in Redis', () => {
    expect(found(toRedis, plain)).toEqual([]);
  });

  itWithRedis('no document is in Redis, nor a hash of one that who sees it could find by trying all of them', () => {
    expect(found(toRedis, dotted, documents)).toEqual([]);
    const hashes = (value: string): string[] =>
      [value, JSON.stringify([merchant.accountId, 'test', value])].flatMap((text) =>
        [createHash('sha256'), createHmac('sha256', ''), createHmac('sha256', merchant.accountId)].flatMap((hash) => {
          const digest = hash.update(text).digest();
          // As much as a shortened one would have of it.
          return [digest.toString('base64url').slice(0, 16), digest.toString('hex').slice(0, 16)];
        }),
      );
    expect(found(toRedis, hashes, documents)).toEqual([]);
  });

  it('no secret, and no document that the merchant did not send to be kept, is in a column of the database', async () => {
    const tables = await service.sql<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    expect(tables.length).toBeGreaterThan(20);
    const rows = await Promise.all(
      tables.map(({ name }) => service.sql<{ row: string }>(`SELECT '${name} ' || t::text AS row FROM ${name} t`)),
    );
    const texts = rows.flat().map(({ row }) => row);
    // Of what the merchant sent the document is kept: the search does find what is there.
    expect(texts.some((text) => text.startsWith('transactions ') && text.includes(CUSTOMER))).toBe(true);
    const stored = (value: string): string[] => [...plain(value), Buffer.from(value).toString('hex')];
    const sealed = new Map([...secrets, ['the payer', PAYER], ['the destination', DESTINATION]]);
    expect(found(texts, stored, sealed)).toEqual([]);
  });

  it('no secret, and not the document of the payer, is in a webhook', () => {
    const texts = receiver.received.map(({ rawBody }) => rawBody);
    expect(texts.length).toBeGreaterThan(10);
    const hidden = new Map([...secrets, ['the payer', PAYER], ['the destination', DESTINATION]]);
    expect(found(texts, plain, hidden)).toEqual([]);
  });
});
