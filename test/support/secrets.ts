import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { WebhookReceiver } from './receiver.js';
import { type Answer, type Merchant, PASSWORD, type TestService } from './service.js';
import { JWT_SECRET } from './tokens.js';
import { waitFor } from './wait.js';

/** The customer's CPF, as the merchant sends it with a charge. */
export const CUSTOMER = '52998224725';
/** The payer's CPF, as the bank reports it. */
export const PAYER = '39053344705';
/** The payer who opens a MED: shown to the merchant in `metadata.med`, and stored sealed. */
export const DISPUTER = { document: '12345678909', name: 'Quem Contestou' };
/** The Pix key that a refund goes to, somebody else's CPF. */
export const DESTINATION = '11144477735';

/** A merchant of the service. Collects every secret that is issued or sent, and every answer. */
export class SecretsWorld {
  readonly answers: string[] = [];
  /** Answers of failures, with their headers */
  readonly errors: string[] = [];
  /** Secrets by name. No text of the service may contain any of them. */
  readonly secrets = new Map<string, string>([
    ['a password', PASSWORD],
    ['a wrong password', `wrong ${randomUUID()}`],
    ['the key of the tokens', JWT_SECRET],
    ['a password of an invited member', `chosen ${randomUUID()}`],
  ]);
  /** The merchant's test key. */
  readonly key: string;

  constructor(
    readonly service: TestService,
    readonly merchant: Merchant,
    readonly receiver: WebhookReceiver,
  ) {
    this.key = this.keep('a test key', merchant.testKey);
    this.keep('a live key', merchant.liveKey);
  }

  readonly call = async (
    method: string,
    path: string,
    options: Parameters<TestService['call']>[2] = {},
  ): Promise<Answer> => {
    const answer = await this.service.call(method, path, options);
    this.answers.push(answer.text);
    if (answer.status >= 400) this.errors.push(`${JSON.stringify([...answer.headers])} ${answer.text}`);
    return answer;
  };

  /** Remembers a secret. @throws Error if the value cannot be a secret */
  readonly keep = (name: string, value: unknown): string => {
    if (typeof value !== 'string' || value.length < 8) throw new Error(`${name} is ${String(value)}`);
    this.secrets.set(name, value);
    return value;
  };

  readonly secret = (name: string): string => this.secrets.get(name) ?? '';

  /** Simulates an action of a bank or payer on a charge. */
  readonly simulate = (id: string, body: object): Promise<Answer> =>
    this.call('POST', `/v1/sandbox/charges/${id}/simulate`, { key: this.key, body });

  async deliveriesEnd(): Promise<void> {
    await waitFor('the deliveries to end', async () => {
      // Ends the pauses of the circuit breaker.
      this.service.clock.advance(5);
      const open = await this.service.sql(`SELECT 1 FROM webhook_deliveries WHERE status IN ('PENDING', 'PROCESSING')`);
      return open.length === 0;
    });
  }
}

/** Makes charges with expected, other and unknown payers, and webhooks that arrive and that fail. */
export async function chargesAndWebhooks(world: SecretsWorld): Promise<void> {
  const { call, keep, key, receiver, service, simulate } = world;
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
  await world.deliveriesEnd();
  await receiver.waitForType('charge.expired', 2);
  receiver.answer = 200;
}

/** Makes payments with their own webhook URL. A stranger pays the first one, which is then refunded and read. */
export async function paymentsAndRefunds(world: SecretsWorld): Promise<void> {
  const { call, keep, key, receiver, service, simulate } = world;
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
  await world.deliveriesEnd();
}

/** Disputes a Pix up to the ruling, refunds a part of it, and resends the webhook of its payment. */
export async function disputes(world: SecretsWorld): Promise<void> {
  const { call, key, receiver, service, simulate } = world;
  const { id } = (await service.createCharge(key, { customer: { name: 'Maria', document: CUSTOMER } })).body;
  await simulate(id, { event: 'pay', payer_document: PAYER });
  const who = { payer_document: DISPUTER.document, payer_name: DISPUTER.name };
  await simulate(id, { event: 'med_open', reason: 'It was not me.', ...who });
  const { body } = await call('GET', `/v1/med/cases?charge_id=${id}`, { key });
  const [found] = body['data'] as { id: string }[];
  await call('POST', `/v1/med/cases/${found?.id ?? ''}/appeal`, { key, body: { reason: 'It was delivered.' } });
  await simulate(id, { event: 'med_open', amount: 1, ...who });
  await simulate(id, { event: 'med_withdraw' });
  await simulate(id, { event: 'med_rule', result: 'disagreed' });
  const payment = `/v1/payments/${id.slice(3)}`;
  for (const path of [`/v1/charges/${id}`, payment, '/v1/payments?limit=1']) await call('GET', path, { key });
  await call('POST', `${payment}/refund`, { key, body: { amount: 1, idempotencyKey: randomUUID() } });
  const before = receiver.ofType('charge.paid').length;
  await call('POST', `${payment}/resend-webhook`, { key });
  await receiver.waitForType('charge.paid', before + 1);
  await world.deliveriesEnd();
}

/** Rotates webhook secrets, and sends all secrets to the route that explains why a signature fails. */
export async function rotationsAndVerifications(world: SecretsWorld): Promise<void> {
  const { call, keep, key, receiver, secret, secrets } = world;
  const endpoint = await call('POST', '/v1/webhooks/endpoints', { key, body: { url: receiver.url, events: ['*'] } });
  keep('a webhook secret that was rotated', endpoint.body['secret']);
  const path = `/v1/webhooks/endpoints/${String(endpoint.body['id'])}`;
  const rotate = async (name: string, body: object): Promise<unknown> =>
    keep(name, (await call('POST', `${path}/rotate-secret`, { key, body })).body['secret']);
  await rotate('a webhook secret that signs in an overlap', {});
  await rotate('a webhook secret of today', { overlap_seconds: 3_600 });
  await call('POST', `${path}/test`, { key, body: { event: 'charge.paid' } });
  await world.deliveriesEnd();
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
  const today = secret('a webhook secret of today');
  for (const body of [
    { payload: today, headers: { [today]: 1 }, secret: today },
    { payload: today, headers: today, secret: today.repeat(20) },
    { payload: { today }, headers: {}, secret: [today] },
  ]) {
    expect((await call('POST', '/v1/webhooks/verify', { key, body })).status).toBe(400);
  }
  await call('DELETE', path, { key });
}
