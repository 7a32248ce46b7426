import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { allReturned, refundEnd, requestRefund } from '../../support/refunds.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const LEGACY = ['payment.created', 'payment.completed', 'payment.failed', 'payment.expired', 'payment.refunded'];
const ALIAS = 'payment.status_changed';

const MED = ['med_case.created', 'med_case.updated', 'med_case.deadline_approaching', 'med.resolved'];
const PUBLIC: Record<string, string> = {
  WAITING_PAYMENT: 'pending',
  PROCESSING: 'processing',
  PAID: 'paid',
  REFUSED: 'failed',
  CANCELLED: 'cancelled',
  EXPIRED: 'expired',
  REFUNDED: 'refunded',
  DISPUTE: 'disputed',
};

type Payment = Record<string, unknown> & { id: string; status: string };

/** A way to reach a status, and its events: canonical and legacy names, and whether the alias is sent. */
interface Story {
  readonly status: string;
  readonly by: string;
  readonly methods?: string[];
  readonly events?: Record<string, unknown>[];
  readonly then?: (id: string, key: string) => Promise<unknown>;
  readonly canonical: string[];
  readonly legacy: string[];
  readonly alias: boolean;
}

describe('POST /v1/payments/{id}/resend-webhook', () => {
  const service = TestService.forSpec();
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;
  let key: string;

  beforeAll(async () => {
    merchant = await service.merchant();
    key = merchant.testKey;
    await service.call('POST', '/v1/webhooks/endpoints', {
      key,
      body: { url: receiver.url, events: ['*', ALIAS, ...LEGACY] },
    });
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  async function create(story: Story, body: Record<string, unknown> = {}, who = key): Promise<string> {
    const { body: created } = await service.call<Payment>('POST', '/v1/payments', {
      key: who,
      body: { amount: 1990, paymentMethods: story.methods ?? ['PIX'], idempotencyKey: randomUUID(), ...body },
    });
    for (const event of story.events ?? []) await simulate(created.id, who, event);
    await story.then?.(created.id, who);
    const { body: payment } = await service.call<Payment>('GET', `/v1/payments/${created.id}`, { key: who });
    expect(payment.status).toBe(story.status);
    return created.id;
  }

  const resend = (id: string, who = key): Promise<Answer> =>
    service.call('POST', `/v1/payments/${id}/resend-webhook`, { key: who });

  /** Returns webhooks of a payment by the path they were sent to. */
  const about = (id: string, at: WebhookReceiver = receiver): { type: string; body: string }[] =>
    at.received
      .filter(({ rawBody }) => rawBody.includes(id))
      .map(({ headers, rawBody }) => ({ type: String(headers['x-service-event-type']), body: rawBody }));

  /** Waits until every event has been delivered. */
  const quiet = (): Promise<unknown> =>
    waitFor('the workers', async () => {
      const [row] = await service.sql<{ busy: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM events WHERE status = 'pending')
           OR EXISTS (SELECT 1 FROM webhook_deliveries WHERE status IN ('PENDING', 'PROCESSING')) AS busy`,
      );
      return row?.busy === false;
    });

  async function refund(id: string, who: string, amount?: number): Promise<void> {
    const { body } = await requestRefund(service, who, id, amount === undefined ? {} : { amount });
    await refundEnd(service, who, body);
  }

  async function simulate(id: string, who: string, body: Record<string, unknown>): Promise<void> {
    const answer = await service.call('POST', `/v1/sandbox/payments/${id}/simulate`, { key: who, body });
    expect(answer.status).toBe(200);
  }

  /** State of a live charge that its acquirer has refused. */
  const notIssued = (id: string): Promise<unknown> =>
    service.sql(
      `WITH told AS (DELETE FROM events WHERE subject_id = $1 RETURNING *),
         moved AS (UPDATE transactions SET status = 'REFUSED' WHERE id = $1)
       INSERT INTO events (id, account_id, mode, type, subject_id, data, sequence, occurred_at, next_attempt_at, status)
       SELECT id, account_id, mode, 'transaction.not_issued', subject_id,
         jsonb_set(data, '{transaction,status}', '"REFUSED"'), 1, occurred_at, next_attempt_at, 'done'
       FROM told WHERE sequence = 1`,
      [id],
    );

  const cancel = (id: string, who: string): Promise<unknown> =>
    service.call('POST', `/v1/payments/${id}/cancel`, { key: who });
  const pay = { event: 'pay' };
  const payByCard = { event: 'pay', method: 'CREDIT_CARD' };
  const won = { event: 'med_rule', result: 'disagreed' };
  const card = ['CREDIT_CARD'];
  // Nothing has changed yet.
  const created = { canonical: ['charge.created'], legacy: ['payment.created'], alias: false };
  const inFlight = { ...created, alias: true };
  const paid = { canonical: ['charge.paid'], legacy: ['payment.completed'], alias: true };
  const failed = { canonical: ['charge.failed'], legacy: ['payment.failed'], alias: true };

  const stories: Story[] = [
    {
      status: 'WAITING_PAYMENT',
      by: 'creation',
      ...created,
    },
    { status: 'WAITING_PAYMENT', by: 'creation, with a card', methods: card, ...created, canonical: [] },
    {
      status: 'PROCESSING',
      by: 'a card being authenticated',
      methods: card,
      events: [{ event: 'processing' }],
      ...inFlight,
      canonical: [],
    },
    {
      status: 'PROCESSING',
      by: 'a card being authenticated, where Pix was offered too',
      methods: ['PIX', 'CREDIT_CARD'],
      events: [{ event: 'processing' }],
      ...inFlight,
      canonical: ['charge.processing'],
    },
    {
      status: 'DISPUTE',
      by: 'the cardholder, where Pix was offered too',
      methods: ['PIX', 'CREDIT_CARD'],
      events: [payByCard, { event: 'dispute' }],
      ...failed,
      canonical: ['charge.disputed'],
    },
    { status: 'PAID', by: 'a Pix', events: [pay], ...paid },
    {
      status: 'PAID',
      by: 'a Pix, and a refund of a part',
      events: [pay],
      then: (id, who) => refund(id, who, 990),
      ...paid,
    },
    { status: 'PAID', by: 'a MED that was won', events: [pay, { event: 'med_open' }, won], ...paid },
    { status: 'APPROVED', by: 'a card', methods: card, events: [pay], ...paid, canonical: [] },
    {
      status: 'APPROVED',
      by: 'a chargeback that was won',
      methods: card,
      events: [pay, { event: 'chargeback' }, won],
      ...paid,
      canonical: [],
    },
    { status: 'REFUSED', by: 'the bank', events: [{ event: 'fail' }], ...failed },
    { status: 'CANCELLED', by: 'the merchant', then: cancel, ...failed },
    {
      status: 'EXPIRED',
      by: 'time',
      events: [{ event: 'expire' }],
      canonical: ['charge.expired'],
      legacy: ['payment.expired', 'payment.failed'],
      alias: true,
    },
    {
      status: 'REFUNDED',
      by: 'refunds',
      events: [pay],
      then: async (id, who) => {
        await refund(id, who, 990);
        await refund(id, who);
      },
      canonical: ['charge.refunded'],
      legacy: ['payment.refunded'],
      alias: true,
    },
    { status: 'REFUSED', by: 'an acquirer that was never told', then: notIssued, ...failed },
    { status: 'DISPUTE', by: 'a MED', events: [pay, { event: 'med_open' }], ...paid },
    {
      status: 'DISPUTE',
      by: 'a MED, after a refund of a part',
      events: [pay],
      then: async (id, who) => {
        await refund(id, who, 990);
        await simulate(id, who, { event: 'med_open' });
      },
      ...paid,
    },
    {
      status: 'CHARGEBACK',
      by: 'the issuer',
      methods: card,
      events: [pay, { event: 'chargeback' }],
      ...failed,
      canonical: [],
    },
    {
      status: 'DISPUTE',
      by: 'the cardholder',
      methods: card,
      events: [pay, { event: 'dispute' }],
      ...failed,
      canonical: [],
    },
  ];

  it.each(stories)('resends the event of a payment that is $status by $by', async (story) => {
    const id = await create(story);
    await quiet();
    const before = about(id);
    expect((await resend(id)).body).toEqual({ resent: true, status: story.status });
    await quiet();
    const again = about(id).slice(before.length);
    expect(again.map(({ type }) => type).sort()).toEqual(
      [...story.canonical, ...story.legacy, ...(story.alias ? [ALIAS] : [])].sort(),
    );
    // Earlier business events that announce the current status.
    const events = await service.sql<{ id: string; sequence: number }>(
      `SELECT 'evt_' || replace(id::text, '-', '') AS id, sequence::int FROM events WHERE subject_id = $1`,
      [id],
    );
    for (const { type, body } of again) {
      const told = JSON.parse(body) as { id?: string; sequence?: number; data: Record<string, unknown> };
      if (type.startsWith('payment.')) {
        expect(told.data).toMatchObject({ status: story.status });
        expect(events.map(({ sequence }) => sequence)).toContain(told.data['sequence']);
      } else {
        expect(told.data['object']).toMatchObject({ status: PUBLIC[story.status] });
        expect(events).toContainEqual({ id: told.id, sequence: told.sequence });
      }
    }
  });

  it.each(stories)('resends a payment that is $status by $by to its own URL', async (story) => {
    const own = await WebhookReceiver.start();
    try {
      const id = await create(story, { webhookUrl: own.url });
      await quiet();
      const before = { own: about(id, own).length, account: about(id).length };
      expect((await resend(id)).body).toEqual({ resent: true, status: story.status });
      await quiet();
      const types = (received: { type: string }[]): string[] => received.map(({ type }) => type).sort();
      expect(types(about(id, own).slice(before.own))).toEqual([...story.legacy].sort());
      // The alias is sent only to endpoints that subscribed to it.
      expect(types(about(id).slice(before.account))).toEqual(
        [...story.canonical, ...(story.alias ? [ALIAS] : [])].sort(),
      );
    } finally {
      await own.stop();
    }
  });

  it('resends a payment that was REFUNDED by the payer lock', async () => {
    const locked = await service.merchant({ payer_lock: 'true' });
    await service.call('POST', '/v1/webhooks/endpoints', {
      key: locked.testKey,
      body: { url: receiver.url, events: ['*', ...LEGACY] },
    });
    const { body: charge } = await service.createCharge(locked.testKey, {
      expected_payer_tax_id: '52998224725',
      customer: { name: 'Maria' },
    });
    await service.simulate(locked.testKey, charge.id, { event: 'pay', payer_document: '11144477735' });
    await quiet();
    const before = about(charge.id.slice(3)).length;
    expect((await resend(charge.id, locked.testKey)).body).toEqual({ resent: true, status: 'REFUNDED' });
    await quiet();
    const again = about(charge.id.slice(3)).slice(before);
    expect(again.map(({ type }) => type).sort()).toEqual(['charge.created', 'payment.refunded']);
    expect(again.map(({ body }) => body).join()).toContain('"status":"refunded"');
    await allReturned(service);
  });

  it('resends a Pix in PROCESSING that is held for an operator', async () => {
    const locked = await service.merchant({ payer_lock: 'true' });
    await service.call('POST', '/v1/webhooks/endpoints', {
      key: locked.testKey,
      body: { url: receiver.url, events: ['charge.created', ALIAS] },
    });
    const { chargeId } = await service.heldCharge(locked.testKey);
    await quiet();
    const id = chargeId.slice(3);
    const before = about(id).length;
    expect((await resend(id, locked.testKey)).body).toEqual({ resent: true, status: 'PROCESSING' });
    await quiet();
    const again = about(id).slice(before);
    expect(again.map(({ type, body }) => [type, (JSON.parse(body) as { data: object }).data])).toEqual(
      expect.arrayContaining([
        ['charge.created', { object: expect.objectContaining({ status: 'processing' }) }],
        [ALIAS, expect.objectContaining({ status: 'PROCESSING', previousStatus: 'WAITING_PAYMENT' })],
      ]),
    );
    expect(again).toHaveLength(2);
  });

  it.each(stories)('answers resent: false for $status by $by only when nobody is subscribed', async (story) => {
    const who = await service.merchant();
    const register = async (apiKey: string, url: string): Promise<string> => {
      const body = { url, events: ['*', ALIAS, ...LEGACY] };
      const answer = await service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', { key: apiKey, body });
      expect(answer.status).toBe(201);
      return answer.body.id;
    };
    // Registered in the other mode.
    await register(who.liveKey, 'https://merchant.example/hook');
    const id = await create(story, {}, who.testKey);
    const resent = async (): Promise<unknown> => {
      const { body } = await resend(id, who.testKey);
      expect(body['status']).toBe(story.status);
      return body['resent'];
    };
    expect(await resent()).toBe(false);
    const endpoint = await register(who.testKey, receiver.url);
    const change = (body: Record<string, unknown>): Promise<Answer> =>
      service.call('PATCH', `/v1/webhooks/endpoints/${endpoint}`, { key: who.testKey, body });
    const answers: Record<string, unknown> = { all: await resent() };
    for (const [name, events] of Object.entries({
      star: ['*'],
      canonical: ['charge.created', 'charge.paid', 'charge.failed', 'charge.expired'],
      legacy: LEGACY,
      alias: [ALIAS],
      med: MED,
    })) {
      expect((await change({ events })).status).toBe(200);
      answers[name] = await resent();
    }
    await change({ events: ['*', ALIAS, ...LEGACY], status: 'INACTIVE' });
    answers['inactive'] = await resent();
    const isCharge = story.canonical.length > 0;
    expect(answers).toEqual({
      ...{
        all: true,
        star: isCharge,
        canonical: isCharge,
        legacy: true,
        alias: story.alias,
        med: false,
        inactive: false,
      },
    });
    // Only the payment's own address is subscribed.
    const own = await create(story, { webhookUrl: receiver.url }, who.testKey);
    expect((await resend(own, who.testKey)).body).toEqual({ resent: true, status: story.status });
  });

  it.each(stories)('answers resent: false for $status by $by when nobody is subscribed', async (story) => {
    const lonely = await service.merchant();
    const id = await create(story, {}, lonely.testKey);
    expect((await resend(id, lonely.testKey)).body).toEqual({ resent: false, status: story.status });
    expect(await service.sql('SELECT 1 FROM webhook_deliveries WHERE account_id = $1', [lonely.accountId])).toEqual([]);
  });
});
