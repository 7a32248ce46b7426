import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../support/coherence.js';
import { WebhookReceiver } from '../support/receiver.js';
import { refundEnd, requestRefund } from '../support/refunds.js';
import { type Answer, type Merchant, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

const LEGACY = ['payment.created', 'payment.completed', 'payment.failed', 'payment.expired', 'payment.refunded'];
const ALIAS = 'payment.status_changed';

type Payment = Record<string, unknown> & { id: string; status: string };

/** How a payment comes to a status, and what tells of it: canonical and legacy names, and whether the alias does. */
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
  let service: TestService;
  let receiver: WebhookReceiver;
  let merchant: Merchant;
  let key: string;

  beforeAll(async () => {
    service = await TestService.start();
    receiver = await WebhookReceiver.start();
    merchant = await service.merchant();
    key = merchant.testKey;
    await service.call('POST', '/v1/webhooks/endpoints', {
      key,
      body: { url: receiver.url, events: ['*', ALIAS, ...LEGACY] },
    });
  });
  afterEach(() => expectLedgerCoherent(service.database.url));
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });

  async function create(story: Story, body: Record<string, unknown> = {}, who = key): Promise<string> {
    const { body: created } = await service.call<Payment>('POST', '/v1/payments', {
      key: who,
      body: { amount: 1990, paymentMethods: story.methods ?? ['PIX'], idempotencyKey: randomUUID(), ...body },
    });
    for (const event of story.events ?? []) {
      const path = `/v1/sandbox/payments/${created.id}/simulate`;
      expect((await service.call('POST', path, { key: who, body: event })).status).toBe(200);
    }
    await story.then?.(created.id, who);
    const { body: payment } = await service.call<Payment>('GET', `/v1/payments/${created.id}`, { key: who });
    expect(payment.status).toBe(story.status);
    return created.id;
  }

  const resend = (id: string, who = key): Promise<Answer> =>
    service.call('POST', `/v1/payments/${id}/resend-webhook`, { key: who });

  /** What a receiver got about a payment, by the path it was sent to. */
  const about = (id: string, at: WebhookReceiver = receiver): { type: string; body: string }[] =>
    at.received
      .filter(({ rawBody }) => rawBody.includes(id))
      .map(({ headers, rawBody }) => ({ type: String(headers['x-service-event-type']), body: rawBody }));

  /** Everything that there is to tell has been told. */
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

  const cancel = (id: string, who: string): Promise<unknown> =>
    service.call('POST', `/v1/payments/${id}/cancel`, { key: who });
  const pay = { event: 'pay' };
  const won = { event: 'med_rule', result: 'disagreed' };
  const card = ['CREDIT_CARD'];
  const paid = { canonical: ['charge.paid'], legacy: ['payment.completed'], alias: true };
  const failed = { canonical: ['charge.failed'], legacy: ['payment.failed'], alias: true };

  const stories: Story[] = [
    {
      status: 'WAITING_PAYMENT',
      by: 'creation',
      canonical: ['charge.created'],
      legacy: ['payment.created'],
      alias: false,
    },
    {
      status: 'WAITING_PAYMENT',
      by: 'creation, with a card',
      methods: card,
      canonical: [],
      legacy: ['payment.created'],
      alias: false,
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
      canonical: [],
      legacy: ['payment.refunded'],
      alias: true,
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

  it.each(stories)('$status by $by: what told of it, once more', async (story) => {
    const id = await create(story);
    await quiet();
    const before = about(id);
    expect((await resend(id)).body).toEqual({ resent: true, status: story.status });
    await quiet();
    const again = about(id).slice(before.length);
    expect(again.map(({ type }) => type).sort()).toEqual(
      [...story.canonical, ...story.legacy, ...(story.alias ? [ALIAS] : [])].sort(),
    );
    // The same business event: what is told again was told before, word for word.
    for (const { type, body } of again) {
      const { data, ...envelope } = JSON.parse(body) as { data: Record<string, unknown>; id?: string };
      const told = before
        .filter((each) => each.type === type)
        .map((each) => JSON.parse(each.body) as { data: Record<string, unknown>; id?: string })
        .map((each) => [each.id, each.data['sequence']]);
      expect([type, told]).toEqual([type, expect.arrayContaining([[envelope.id, data['sequence']]])]);
    }
    const legacy = again.filter(({ type }) => type.startsWith('payment.'));
    for (const { body } of legacy) expect(JSON.parse(body)).toMatchObject({ data: { status: story.status } });
  });

  it.each(stories)('$status by $by: to the payment’s own URL', async (story) => {
    const own = await WebhookReceiver.start();
    try {
      const id = await create(story, { webhookUrl: own.url });
      await quiet();
      const before = { own: about(id, own).length, account: about(id).length };
      expect((await resend(id)).body).toEqual({ resent: true, status: story.status });
      await quiet();
      const types = (received: { type: string }[]): string[] => received.map(({ type }) => type).sort();
      expect(types(about(id, own).slice(before.own))).toEqual([...story.legacy].sort());
      expect(types(about(id).slice(before.account))).toEqual([...story.canonical].sort());
    } finally {
      await own.stop();
    }
  });

  it('REFUNDED by the payer lock', async () => {
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
    expect(about(charge.id.slice(3)).slice(before)).toMatchObject([{ type: 'payment.refunded' }]);
    await waitFor('the return', async () => {
      const rows = await service.sql(`SELECT 1 FROM pix_returns WHERE status IN ('PENDING', 'IN_PROGRESS')`);
      return rows.length === 0;
    });
  });

  it('PROCESSING, of which nobody is told: nothing', async () => {
    const id = await create({
      status: 'PROCESSING',
      by: 'authentication',
      methods: card,
      events: [{ event: 'processing' }],
      canonical: [],
      legacy: [],
      alias: false,
    });
    expect((await resend(id)).body).toEqual({ resent: false, status: 'PROCESSING' });
  });

  it('DISPUTE of a Pix, a MED, whose events are told by their own routes: nothing', async () => {
    const id = await create({
      status: 'DISPUTE',
      by: 'a MED',
      events: [pay, { event: 'med_open' }],
      canonical: [],
      legacy: [],
      alias: false,
    });
    expect((await resend(id)).body).toEqual({ resent: false, status: 'DISPUTE' });
  });

  it.each(stories)('$status by $by, with nobody subscribed: resent is false', async (story) => {
    const lonely = await service.merchant();
    const id = await create(story, {}, lonely.testKey);
    expect((await resend(id, lonely.testKey)).body).toEqual({ resent: false, status: story.status });
    expect(await service.sql('SELECT 1 FROM webhook_deliveries WHERE account_id = $1', [lonely.accountId])).toEqual([]);
  });
});
