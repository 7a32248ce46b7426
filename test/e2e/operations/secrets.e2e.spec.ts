import { createHash, createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../../src/accounts/index.js';
import { SYSTEM } from '../../../src/audit/index.js';
import { createLogger } from '../../../src/core/log/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { isHere, itWith } from '../../support/needs.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import {
  chargesAndWebhooks,
  CUSTOMER,
  DESTINATION,
  DISPUTER,
  disputes,
  PAYER,
  paymentsAndRefunds,
  rotationsAndVerifications,
  SecretsWorld,
} from '../../support/secrets.js';
import { type Answer, PASSWORD, TestService } from '../../support/service.js';
import { JWT_SECRET } from '../../support/tokens.js';
import { waitFor } from '../../support/wait.js';

describe('after every operation has been done once', () => {
  let service: TestService;
  let redis: TestRedis | null = null;
  let receiver: WebhookReceiver;
  let world: SecretsWorld;
  const logged: string[] = [];
  /** Everything any process sent to Redis: jobs and limits */
  let toRedis: readonly string[] = [];

  beforeAll(async () => {
    if (isHere('redis')) {
      redis = await startRedis();
      toRedis = await redis.watch();
    }
    receiver = await WebhookReceiver.start();
    const logger = createLogger('trace', { write: (line) => logged.push(line) });
    service = await TestService.start({
      env: {
        ...{ JWT_SECRET, RATE_LIMIT: 'on', WEBHOOK_RETRY_SCHEDULE: '0,0' },
        ...(redis && { REDIS_URL: redis.url }),
      },
      overrides: { logger },
    });
    world = new SecretsWorld(service, await service.merchant({ payer_lock: 'true' }), receiver);
    await people();
    await chargesAndWebhooks(world);
    await disputes(world);
    await paymentsAndRefunds(world);
    await rotationsAndVerifications(world);
    await mistakes();
    await staff();
    const { accountId } = world.merchant;
    await service.get(AccountsService).set(accountId, { fee_bps: '10' }, SYSTEM);
    // Request logs and hits of the fraud guard are written a moment after the answer.
    const last = await world.call('GET', '/v1/wallets', { key: world.key });
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
    await redis?.stop();
  });

  /** Uses logins, keys and members. */
  async function people(): Promise<void> {
    const { call, keep, merchant, secret } = world;
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
    expect(invited.status).toBe(201);
    const invitation = keep('an invitation', await service.mailedToken('guest@example.com'));
    const body = { token: invitation, password: secret('a password of an invited member') };
    await call('POST', '/v1/auth/accept-invitation', { body });
    await call('POST', '/v1/auth/accept-invitation', { body });
    await login(secret('a password of an invited member'), 'guest@example.com');
    const other = keep('a token that was ended', (await login(PASSWORD)).body['access_token']);
    await call('POST', '/v1/auth/logout', { token: other });
    await call('GET', '/v1/api-keys', { token: other });
    await call('GET', '/v1/api-keys', { key: rotated.body['apiKey'] as string });
  }

  /** Operators change settings, and decide about payments of unknown payers. */
  async function staff(): Promise<void> {
    const { call, errors, keep, key, merchant } = world;
    const { token } = await service.operator();
    keep('a token of an operator', token);
    const { accountId } = merchant;
    const path = '/v1/operations';
    const body = { name: 'Livraria', email: 'livraria@example.com' };
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
    for (const value of [key, token, CUSTOMER]) {
      await call('GET', `${path}/accounts/${value.slice(0, 190)}`, { token });
      await call('GET', `/v1/request-logs?apiKeyFingerprint=${value}`, { token });
    }
  }

  /** Sends secrets where they do not belong. */
  async function mistakes(): Promise<void> {
    const { call, errors, key, secret } = world;
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

  function found(where: readonly string[], forms: (value: string) => string[], values = world.secrets): string[] {
    return [...values].flatMap(([name, value]) =>
      where
        .filter((text) => forms(value).some((form) => text.includes(form)))
        .map((text) => `${name}: ${text.slice(0, 300)}`),
    );
  }
  const plain = (value: string): string[] => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];

  it('enough logs and refusals exist to be searched', () => {
    expect(logged.length).toBeGreaterThan(60);
    expect(logged.some((line) => line.includes('request failed'))).toBe(true);
    expect(world.errors.length).toBeGreaterThan(30);
    expect(world.secrets.size).toBe(18);
  });

  itWith('redis')('enough commands to Redis exist to be searched', () => {
    expect(toRedis.length).toBeGreaterThan(50);
    expect(toRedis.some((told) => told.includes('fraud:'))).toBe(true);
  });

  it('no secret is in a log line', () => {
    expect(found(logged, plain)).toEqual([]);
  });

  it('no secret is in an error', () => {
    expect(found(world.errors, plain)).toEqual([]);
  });

  const encoded = (value: string): string => Buffer.from(value).toString('base64').replace(/=*$/, '');
  const documents = new Map([
    ['customer', CUSTOMER],
    ['payer', PAYER],
    ['destination', DESTINATION],
  ]);
  const dotted = (value: string): string[] => [value, value.replace(/^(\d{3})(\d{3})(\d{3})(\d\d)$/, '$1.$2.$3-$4')];

  it('no document is in a log line or an error', () => {
    const all = new Map([...documents, ['disputer', DISPUTER.document], ['their name', DISPUTER.name]]);
    expect(found([...logged, ...world.errors], dotted, all)).toEqual([]);
  });

  it('the payer reported by the bank and the destination of a refund are in no answer', () => {
    const hidden = new Map([...documents].filter(([name]) => name !== 'customer'));
    expect(world.answers.some((text) => text.includes(CUSTOMER))).toBe(true);
    expect(found(world.answers, dotted, hidden)).toEqual([]);
  });

  itWith('redis')('no secret is in Redis', () => {
    expect(found(toRedis, plain)).toEqual([]);
  });

  itWith('redis')(
    'no document is in Redis, nor is a hash from which a document could be found by trying all of them',
    () => {
      expect(found(toRedis, dotted, documents)).toEqual([]);
      const hashes = (value: string): string[] =>
        [value, JSON.stringify([world.merchant.accountId, 'test', value])].flatMap((text) =>
          [createHash('sha256'), createHmac('sha256', ''), createHmac('sha256', world.merchant.accountId)].flatMap(
            (hash) => {
              const digest = hash.update(text).digest();
              // The length that a shortened hash would have.
              return [digest.toString('base64url').slice(0, 16), digest.toString('hex').slice(0, 16)];
            },
          ),
        );
      expect(found(toRedis, hashes, documents)).toEqual([]);
    },
  );

  it('no secret, and no document that the merchant did not send to be kept, is in a column of the database', async () => {
    const texts = (await service.rows()).map(({ table, text }) => `${table} ${text}`);
    // The customer's document that the merchant sent is stored: the search does find stored values.
    expect(texts.some((text) => text.startsWith('transactions ') && text.includes(CUSTOMER))).toBe(true);
    const stored = (value: string): string[] => [...plain(value), Buffer.from(value).toString('hex')];
    const sealed = new Map([...world.secrets, ['the payer', PAYER], ['the destination', DESTINATION]]);
    expect(found(texts, stored, sealed)).toEqual([]);
  });

  it('the opener of a MED is shown to the merchant, and stored only in the sent body', async () => {
    const who = new Map(Object.entries(DISPUTER));
    for (const value of who.values()) {
      expect(world.answers.some((text) => text.includes(value))).toBe(true);
      expect(receiver.ofType('charge.paid').some(({ rawBody }) => rawBody.includes(value))).toBe(true);
    }
    const rows = (await service.rows()).filter(({ table }) => table !== 'webhook_messages');
    const texts = rows.map(({ table, text }) => `${table} ${text}`);
    // The sealed part exists, and so do the events that carry it.
    expect(texts.filter((text) => text.startsWith('events ') && text.includes('payerSealed')).length).toBeGreaterThan(
      2,
    );
    const forms = (value: string): string[] => [...dotted(value), Buffer.from(value).toString('hex'), encoded(value)];
    expect(found(texts, forms, who)).toEqual([]);
    expect(found(toRedis, dotted, who)).toEqual([]);
  });

  it('no secret, and not the document of the payer, is in a webhook', () => {
    const texts = receiver.received.map(({ rawBody }) => rawBody);
    expect(texts.length).toBeGreaterThan(10);
    const hidden = new Map([...world.secrets, ['the payer', PAYER], ['the destination', DESTINATION]]);
    expect(found(texts, plain, hidden)).toEqual([]);
  });

  it('the ledger is coherent', () => expectLedgerCoherent(service.database.url));
});
