import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { aDisputedCharge, answerCase, caseOf, happens } from '../../support/med.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { aPaidCharge, paymentIdOf, refundEnd, requestRefund } from '../../support/refunds.js';
import { type Answer, type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const ENCRYPTION_KEY = 'c3'.repeat(32);
/** Names of the contract; all other names are additions. */
const CONTRACT = [
  ...['charge.created', 'charge.paid', 'charge.failed', 'charge.expired'],
  ...['med_case.created', 'med_case.updated', 'med.resolved'],
  ...['payout.created', 'payout.paid', 'payout.failed'],
];
const BEYOND = ['charge.processing', 'charge.refunded', 'charge.disputed'];

type Told = { id: string; type: string; sequence: number; data: Record<string, unknown> & { object: ChargeAnswer } };

describe('events of a sale beyond the contract’s events', () => {
  const service = TestService.forSpec({ env: { ENCRYPTION_KEY } });
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;
  let key: string;
  let endpoint: string;

  beforeEach(async () => {
    await begin();
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  /** Registers a fresh merchant whose endpoint gets every canonical event. */
  async function begin(settings: Record<string, string> = {}): Promise<void> {
    await quiet();
    receiver.received.length = 0;
    merchant = await service.merchant(settings);
    key = merchant.testKey;
    endpoint = await register(['*']);
  }

  async function register(events: string[]): Promise<string> {
    const body = { url: receiver.url, events };
    const { status, body: made } = await service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', { key, body });
    expect(status).toBe(201);
    return made.id;
  }

  /** Waits until every event has been delivered. */
  const quiet = (): Promise<unknown> =>
    waitFor('the workers', async () => {
      const [row] = await service.sql<{ busy: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM events WHERE status = 'pending')
           OR EXISTS (SELECT 1 FROM webhook_deliveries WHERE status IN ('PENDING', 'PROCESSING')) AS busy`,
      );
      return row?.busy === false;
    });
  const told = (): Told[] => receiver.received.map(({ body }) => body as unknown as Told);
  const types = (): string[] => told().map(({ type }) => type);
  async function one(type: string): Promise<Told> {
    await receiver.waitForType(type);
    await quiet();
    const found = told().filter((event) => event.type === type);
    expect(found).toHaveLength(1);
    return found[0] as Told;
  }

  /** A payment by Pix or card, which is a charge too. */
  async function payment(): Promise<string> {
    const { body } = await service.call<{ id: string }>('POST', '/v1/payments', {
      key,
      body: { amount: 1990, paymentMethods: ['PIX', 'CREDIT_CARD'], idempotencyKey: randomUUID() },
    });
    return body.id;
  }
  async function simulate(id: string, body: Record<string, unknown>): Promise<void> {
    const { status } = await service.call('POST', `/v1/sandbox/payments/${id}/simulate`, { key, body });
    expect([body, status]).toEqual([body, 200]);
  }
  async function refund(id: string, amount?: number, strategy?: string): Promise<string> {
    const { body } = await requestRefund(
      service,
      key,
      id,
      JSON.parse(JSON.stringify({ amount, strategy })) as Record<string, unknown>,
    );
    await refundEnd(service, key, body);
    return body.id;
  }
  const resend = (id: string): Promise<Answer> => service.call('POST', `/v1/payments/${id}/resend-webhook`, { key });

  it('are in the catalog, together with the names of the contract', async () => {
    const { body } = await service.call<{ event: string; legacy: boolean }[]>('GET', '/v1/webhooks/event-catalog');
    const canonical = (body as unknown as { event: string; legacy: boolean }[])
      .filter(({ legacy }) => !legacy)
      .map(({ event }) => event);
    expect(canonical).toEqual(expect.arrayContaining([...CONTRACT, ...BEYOND]));
  });

  it('charge.paid reports what a payment brought in and what is left of it', async () => {
    await begin({ fee_bps: '200' });
    const charge = await aPaidCharge(service, key, 1990);
    const { data } = await one('charge.paid');
    const { body: read } = await service.call('GET', `/v1/payments/${paymentIdOf(charge)}`, { key });
    expect(data).toEqual({
      object: charge,
      payment: { paid_at: read['paidAt'], amount: 1990, fee: 40, net_amount: 1950, method: 'pix' },
    });
    expect(read).toMatchObject({ netAmount: 1950 });
    expect(Object.keys(data.object)).not.toContain('amount_refunded');
  });

  it('a card sends charge.processing while it is authenticated, then charge.paid', async () => {
    const id = await payment();
    await simulate(id, { event: 'processing' });
    const { body: charge } = await service.getCharge(key, `ch_${id}`);
    expect((await one('charge.processing')).data).toEqual({ object: { ...charge, status: 'processing' } });
    await simulate(id, { event: 'pay', method: 'CREDIT_CARD' });
    expect((await one('charge.paid')).data['payment']).toMatchObject({ amount: 1990, method: 'credit_card' });
    const inOrder = told().sort((a, b) => a.sequence - b.sequence);
    expect(inOrder.map(({ type }) => type)).toEqual(['charge.created', 'charge.processing', 'charge.paid']);
  });

  it('a Pix that is held for review sends charge.processing', async () => {
    await begin({ payer_lock: 'true' });
    const { chargeId } = await service.heldCharge(key);
    const event = await one('charge.processing');
    expect(event.data).toEqual({ object: (await service.getCharge(key, chargeId)).body });
    expect(types().sort()).toEqual(['charge.created', 'charge.processing']);
  });

  it('charge.refunded is sent for each finished refund, with the sum at that time', async () => {
    const charge = await aPaidCharge(service, key, 1990);
    const id = paymentIdOf(charge);
    const first = await refund(id, 500);
    await service.simulate(key, charge.id, { event: 'refund_fail' });
    await refund(id, 700);
    const second = await refund(id, 90);
    await receiver.waitForType('charge.refunded', 2);
    await quiet();
    const refunds = told()
      .filter(({ type }) => type === 'charge.refunded')
      .sort((a, b) => a.sequence - b.sequence);
    const about = refunds.map(({ data }) => [
      (data['refund'] as { id: string }).id,
      data['amount_refunded'],
      data.object['amount_refunded'],
      data.object.status,
    ]);
    expect(about).toEqual([
      [first, 500, 500, 'paid'],
      [second, 590, 590, 'paid'],
    ]);
    expect(new Set(refunds.map((event) => event.id)).size).toBe(2);
    const { body } = await service.getCharge(key, charge.id);
    expect(body).toEqual({ ...charge, amount_refunded: 590 });
  });

  it('a resend after a partial refund sends charge.paid in the current state, after a full refund charge.refunded', async () => {
    const charge = await aPaidCharge(service, key, 1990);
    const id = paymentIdOf(charge);
    await refund(id, 500);
    await quiet();
    receiver.received.length = 0;
    expect((await resend(id)).body).toEqual({ resent: true, status: 'PAID' });
    expect((await one('charge.paid')).data).toMatchObject({
      object: { status: 'paid', amount_refunded: 500 },
      payment: { amount: 1990 },
    });
    const last = await refund(id);
    await quiet();
    receiver.received.length = 0;
    expect((await resend(id)).body).toEqual({ resent: true, status: 'REFUNDED' });
    expect((await one('charge.refunded')).data).toMatchObject({
      object: { status: 'refunded' },
      refund: { id: last, amount: 1490 },
      amount_refunded: 1990,
    });
    expect(types()).toEqual(['charge.refunded']);
  });

  it('a resend sends charge.paid to an endpoint that knows only the names of the contract', async () => {
    const charge = await aPaidCharge(service, key);
    await refund(paymentIdOf(charge));
    await quiet();
    const path = `/v1/webhooks/endpoints/${endpoint}`;
    await service.call('PATCH', path, { key, body: { events: CONTRACT.slice(0, 4) } });
    receiver.received.length = 0;
    expect((await resend(paymentIdOf(charge))).body).toEqual({ resent: true, status: 'REFUNDED' });
    expect((await one('charge.paid')).data.object.status).toBe('refunded');
    expect(types()).toEqual(['charge.paid']);
  });

  it('a recovery after an outage reports the refund once', async () => {
    const charge = await aPaidCharge(service, key);
    await quiet();
    receiver.answer = 410;
    await refund(paymentIdOf(charge));
    await quiet();
    receiver.reset();
    const path = `/v1/webhooks/endpoints/${endpoint}`;
    await service.call('PATCH', path, { key, body: { status: 'ACTIVE' } });
    const since = new Date(service.clock.now().getTime() - 3_600_000).toISOString();
    const recovered = await service.call('POST', `${path}/recover`, { key, body: { since } });
    expect(recovered.body).toMatchObject({ queued: 1 });
    expect((await one('charge.refunded')).data).toMatchObject({ amount_refunded: 100, refund: { amount: 100 } });
    expect(types()).toEqual(['charge.refunded']);
  });

  it.each([
    ['dispute', 'dispute'],
    ['chargeback', 'chargeback'],
  ])('a %s of a card charge sends charge.disputed with the current state of its case', async (event, type) => {
    const id = await payment();
    await simulate(id, { event: 'pay', method: 'CREDIT_CARD' });
    await simulate(id, { event });
    const disputed = await one('charge.disputed');
    const medCase = await caseOf(service, key, `ch_${id}`);
    expect(medCase.type).toBe(type);
    expect(disputed.data).toEqual({ object: (await service.getCharge(key, `ch_${id}`)).body, case: medCase });
    expect(disputed.data.object.status).toBe('disputed');
    await answerCase(service, key, medCase.id, 'appeal');
    await quiet();
    receiver.received.length = 0;
    await resend(id);
    expect((await one('charge.disputed')).data['case']).toEqual(await caseOf(service, key, `ch_${id}`));
    // The dispute is won and the charge is paid again, which is no new payment.
    await simulate(id, { event: 'med_rule', result: 'disagreed' });
    await quiet();
    expect(types().sort()).toEqual(['charge.disputed', 'med.resolved', 'med_case.updated']);
  });

  it('a MED sends no charge.* from its opening to its end, even when a refund fails meanwhile', async () => {
    for (const result of ['agreed', 'disagreed']) {
      await begin();
      const charge = await aPaidCharge(service, key, 1990);
      await refund(paymentIdOf(charge), 90);
      await happens(service, key, charge.id, { event: 'med_open' });
      await happens(service, key, charge.id, { event: 'med_rule', result });
      await one('med.resolved');
      expect(types().sort()).toEqual([
        'charge.created',
        'charge.paid',
        'charge.refunded',
        'med.resolved',
        'med_case.created',
        'med_case.updated',
      ]);
      expect((await service.getCharge(key, charge.id)).body).toHaveProperty('amount_refunded', 90);
    }
  });

  it.each(['charge.paid', ...BEYOND])('a sample of %s is complete', async (event) => {
    const sent = await service.call('POST', `/v1/webhooks/endpoints/${endpoint}/test`, { key, body: { event } });
    expect([event, sent.status]).toEqual([event, 200]);
    const { data } = await one(event);
    const id = data.object.id;
    const expected: Record<string, object> = {
      'charge.paid': {
        object: { status: 'paid' },
        payment: { amount: 1990, fee: 20, net_amount: 1970, method: 'pix' },
      },
      'charge.processing': { object: { status: 'processing' } },
      'charge.refunded': {
        object: { status: 'refunded', amount_refunded: 1990 },
        refund: { object: 'refund', amount: 1990, status: 'REFUNDED' },
        amount_refunded: 1990,
      },
      'charge.disputed': { object: { status: 'disputed' }, case: { object: 'med_case', charge_id: id } },
    };
    expect(data).toMatchObject(expected[event] ?? {});
  });

  describe('events of a MED case', () => {
    const metadata = { order: 'order-of-a-disputed-sale', lines: [1, 2] };

    /** A charge with the merchant's own words about it, and its case. */
    async function disputed(): Promise<{ chargeId: string; caseId: string }> {
      const customer = { name: 'Maria da Silva', email: 'maria.of.the.case@payer.example' };
      const { body } = await service.createCharge(key, { amount: 1990, metadata, customer });
      await service.simulate(key, body.id, { event: 'pay' });
      await happens(service, key, body.id, { event: 'med_open', response_deadline: '2031-01-02T03:04:05Z' });
      return { chargeId: body.id, caseId: (await caseOf(service, key, body.id)).id };
    }

    it('name the order, the held amount and the deadline, and the case has its own keys', async () => {
      const { chargeId, caseId } = await disputed();
      const about = {
        charge: { id: chargeId, amount: 1990, metadata },
        response_deadline: '2031-01-02T03:04:05.000Z',
      };
      const opened = await one('med_case.created');
      expect(opened.data).toEqual({
        object: await caseOf(service, key, chargeId),
        ...about,
        held_amount: 1990,
      });
      await answerCase(service, key, caseId, 'appeal');
      expect((await one('med_case.updated')).data).toMatchObject({ ...about, held_amount: 1990 });
      await happens(service, key, chargeId, { event: 'med_rule', result: 'agreed' });
      expect((await one('med.resolved')).data).toEqual({
        object: await caseOf(service, key, chargeId),
        ...about,
        held_amount: 0,
        resolution: expect.objectContaining({ amount: 1990 }),
      });
    });

    it('hold the part of a partly refunded sale that devolutions have left', async () => {
      const charge = await aPaidCharge(service, key, 1990);
      await refund(paymentIdOf(charge), 90, 'devolution');
      await happens(service, key, charge.id, { event: 'med_open' });
      expect((await one('med_case.created')).data).toMatchObject({ charge: { amount: 1990 }, held_amount: 1900 });
    });

    it('have empty metadata if the charge has none', async () => {
      const { charge } = await aDisputedCharge(service, key);
      expect((await one('med_case.created')).data['charge']).toEqual({ id: charge.id, amount: 100, metadata: {} });
    });

    it('show the current state of the case in a recovery', async () => {
      receiver.answer = 500;
      const { chargeId } = await disputed();
      await receiver.waitForType('med_case.created');
      await service.sql(`UPDATE webhook_deliveries SET status = 'FAILED' WHERE account_id = $1`, [merchant.accountId]);
      receiver.reset();
      const since = new Date(service.clock.now().getTime() - 3_600_000).toISOString();
      await service.call('POST', `/v1/webhooks/endpoints/${endpoint}/recover`, { key, body: { since } });
      expect((await one('med_case.created')).data).toMatchObject({
        charge: { id: chargeId, metadata },
        held_amount: 1990,
      });
    });

    it('store the metadata of the order sealed', async () => {
      await disputed();
      await one('med_case.created');
      const mark = metadata.order;
      const tables = (await service.rows()).filter(({ text }) => text.includes(mark)).map(({ table }) => table);
      expect(new Set(tables)).toEqual(new Set(['transactions']));
      const [event] = await service.sql<{ data: { transaction: object }; box: string; context: string }>(
        `SELECT data, customer_sealed AS box, 'event:' || id AS context FROM events
         WHERE account_id = $1 AND type = 'med_case.opened'`,
        [merchant.accountId],
      );
      expect(Object.keys(event?.data.transaction ?? {}).sort()).toEqual(['amount', 'id']);
      const opened = new SecretBox(ENCRYPTION_KEY).openText(event?.box ?? '', event?.context ?? '');
      expect(JSON.parse(opened)).toEqual({ metadata });
    });
  });
});
