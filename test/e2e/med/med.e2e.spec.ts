import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../../support/coherence.js';
import {
  aDisputedCharge,
  answerCase,
  balance,
  caseOf,
  happens,
  mailsTo,
  type MedCaseAnswer,
} from '../../support/med.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { aPaidCharge, type ErrorAnswer, requestRefund } from '../../support/refunds.js';
import { type Answer, type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface MedWebhook {
  id: string;
  object: string;
  type: string;
  sequence: number;
  data: { object: MedCaseAnswer; resolution?: Record<string, unknown> };
}

/** Each row of the contract's table "MED case", seen by a merchant. */
describe('a MED', () => {
  const service = TestService.forSpec();
  let receiver: WebhookReceiver;
  let merchant: Merchant;
  let key: string;

  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
    merchant = await service.merchant();
    key = merchant.testKey;
    await service.call('POST', '/v1/webhooks/endpoints', {
      key,
      body: { url: receiver.url, events: ['*', 'payment.failed', 'payment.refunded', 'payment.status_changed'] },
    });
  });
  afterEach(async () => {
    await receiver.stop();
    await expectLedgerCoherent(service.database.url);
  });

  const statusOf = async (id: string): Promise<string> => (await service.getCharge(key, id)).body.status;

  /** Waits for this many MED webhooks. @returns each by name, status and outcome */
  async function told(count: number): Promise<MedWebhook[]> {
    const names = ['med_case.created', 'med_case.updated', 'med.resolved'];
    const webhooks = (): MedWebhook[] =>
      names.flatMap((name) => receiver.ofType(name)).map(({ body }) => body as unknown as MedWebhook);
    const found = await waitFor(`${count} MED webhooks`, () => (webhooks().length >= count ? webhooks() : null));
    return found.sort((a, b) => a.sequence - b.sequence);
  }

  const summary = ({ type, data }: MedWebhook): string =>
    [type, data.object.status, data.object.money_outcome ?? '–'].join(' ');

  /** A MED sends no charge.* and no older event: all of these belong to the payment. */
  async function expectQuiet(charge: ChargeAnswer): Promise<void> {
    await waitFor('all events to be relayed', async () => {
      return (await service.sql(`SELECT 1 FROM events WHERE status = 'pending'`)).length === 0;
    });
    const rows = await service.sql<{ event_type: string }>(
      'SELECT event_type FROM webhook_deliveries WHERE subject_id = $1 ORDER BY event_type',
      [charge.id.slice(3)],
    );
    expect(rows.map(({ event_type }) => event_type)).toEqual([
      'charge.created',
      'charge.paid',
      'payment.status_changed',
    ]);
  }

  it.each([{ event: 'med_withdraw' }, { event: 'med_rule', result: 'disagreed' }])(
    'ends by $event on a machine whose clock is behind the one that opened it',
    async (ending) => {
      const { charge } = await aDisputedCharge(service, key);
      service.clock.offsetMs -= 5_000;
      try {
        await happens(service, key, charge.id, ending);
      } finally {
        service.clock.offsetMs += 5_000;
      }
      const { status, money_outcome: outcome } = await caseOf(service, key, charge.id);
      expect({ status, outcome }).toEqual({ status: 'closed', outcome: 'refunded_to_merchant' });
    },
  );

  it('shows no payer unless the report of the dispute names one', async () => {
    const charge = await aPaidCharge(service, key, 1990);
    for (const body of [{}, { payer_name: '', payer_document: null }]) {
      const { metadata } = await happens(service, key, charge.id, { event: 'med_open', ...body });
      expect(metadata['med']).toMatchObject({ status: 'created' });
      expect(Object.keys(metadata['med'] as object)).not.toContain('payerName');
      expect(Object.keys(metadata['med'] as object)).not.toContain('payerDocument');
    }
  });

  it('opens: the money is held, the charge is disputed, the merchant is notified', async () => {
    const charge = await aPaidCharge(service, key, 1990);
    expect(await balance(service, key)).toEqual({ available: 1990, pending: 0, retained: 0 });
    const disputed = await happens(service, key, charge.id, {
      event: 'med_open',
      method: 'unauthorized',
      reason: 'I did not make this payment.',
      response_deadline: '2031-01-02T03:04:05Z',
      payer_name: 'Quem Reclamou',
      payer_document: '111.444.777-35',
    });
    expect(disputed.status).toBe('disputed');
    expect(disputed.metadata['med']).toEqual({
      referenceId: charge.settlement.end_to_end_id,
      status: 'created',
      method: 'unauthorized',
      reason: 'I did not make this payment.',
      payerName: 'Quem Reclamou',
      payerDocument: '11144477735',
      openedAt: expect.any(String),
      updatedAt: expect.any(String),
      lastEventAt: expect.any(String),
      amountMismatch: false,
    });
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 1990 });
    const medCase = await caseOf(service, key, charge.id);
    expect(medCase).toEqual({
      id: expect.stringMatching(/^med_[0-9a-f-]{36}$/),
      object: 'med_case',
      type: 'med',
      status: 'open',
      amount: 1990,
      currency: 'BRL',
      charge_id: charge.id,
      reason: 'I did not make this payment.',
      response_deadline: '2031-01-02T03:04:05.000Z',
      evidence_requested_at: null,
      appeal_reason: null,
      appealed_at: null,
      evidence_count: 0,
      money_outcome: null,
      opened_at: expect.any(String),
      closed_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const [created] = await told(1);
    expect(created).toMatchObject({ object: 'event', api_version: '2026-11-01', type: 'med_case.created' });
    expect(created?.data).toEqual({
      object: medCase,
      charge: { id: charge.id, amount: 1990, metadata: {} },
      held_amount: 1990,
      response_deadline: medCase.response_deadline,
    });
    const [mail] = await mailsTo(service, merchant.ownerEmail, 1);
    expect(mail?.subject).toMatch(/^TESTE: MED aberto: .*19,90.* \/ MED opened: /);
    const refused = await requestRefund(service, key, charge.id);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'charge_disputed']);
    await expectQuiet(charge);
  });

  it('has a deadline in seven days when the bank does not say otherwise, or none', async () => {
    const { medCase } = await aDisputedCharge(service, key);
    const days = (Date.parse(medCase.response_deadline ?? '') - Date.parse(medCase.opened_at)) / 86_400_000;
    expect(days).toBe(7);
    const { medCase: open } = await aDisputedCharge(service, key, 100, { response_deadline: null });
    expect(open.response_deadline).toBeNull();
  });

  it('is appealed with 5 to 2000 characters, which are sent unchanged, at least 5 of them not blank at the ends', async () => {
    const { medCase } = await aDisputedCharge(service, key);
    const appeal = (reason: string): Promise<Answer<ErrorAnswer>> =>
      service.call('POST', `/v1/med/cases/${medCase.id}/appeal`, { key, body: { reason } });
    for (const reason of [
      '     ',
      `\t${' '.repeat(1_000)}\n`,
      '   four   ',
      '\u200b\u2060\u00ad\u2800\u3164\u202e',
      'x'.repeat(2_001),
      `${'x'.repeat(2_000)}\n`,
    ]) {
      const { status, body } = await appeal(reason);
      expect([status, body.error.code, body.error.details?.[0]?.param]).toEqual([400, 'invalid_request', 'reason']);
    }
    expect((await appeal(`${'x'.repeat(1_999)}\n`)).status).toBe(200);
  });

  it('is appealed and won: the money is back, the charge is paid', async () => {
    const { charge, medCase } = await aDisputedCharge(service, key);
    const appealed = await answerCase(service, key, medCase.id, 'appeal');
    expect(appealed.status).toBe(200);
    expect(appealed.body).toMatchObject({
      status: 'appealed',
      appeal_reason: 'The goods were delivered.',
      appealed_at: expect.any(String),
      money_outcome: null,
    });
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 100 });
    const won = await happens(service, key, charge.id, { event: 'med_rule', result: 'disagreed' });
    expect([won.status, won.metadata['med']]).toEqual([
      'paid',
      expect.objectContaining({ status: 'closed', result: 'disagreed', closedAt: expect.any(String) }),
    ]);
    const closed = await caseOf(service, key, charge.id);
    expect(closed).toMatchObject({
      status: 'closed',
      money_outcome: 'refunded_to_merchant',
      closed_at: expect.any(String),
    });
    expect(await balance(service, key)).toEqual({ available: 100, pending: 0, retained: 0 });
    const events = await told(4);
    expect(events.map(summary)).toEqual([
      'med_case.created open –',
      'med_case.updated appealed –',
      'med_case.updated closed refunded_to_merchant',
      'med.resolved closed refunded_to_merchant',
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(4);
    expect(events[3]?.data).toEqual({
      object: closed,
      charge: { id: charge.id, amount: 100, metadata: {} },
      held_amount: 0,
      response_deadline: closed.response_deadline,
      resolution: {
        money_outcome: 'refunded_to_merchant',
        amount: 100,
        currency: 'BRL',
        charge_id: charge.id,
        resolved_at: closed.closed_at,
      },
    });
    const mails = await mailsTo(service, merchant.ownerEmail, 2);
    expect(mails[1]?.subject).toMatch(/^TESTE: MED encerrado: valor devolvido a você \/ MED resolved: /);
    await expectQuiet(charge);
    // The payment can be refunded again.
    expect((await requestRefund(service, key, charge.id)).status).toBe(201);
  });

  it('is appealed and lost: rejected, the money is gone', async () => {
    const { charge, medCase } = await aDisputedCharge(service, key);
    await answerCase(service, key, medCase.id, 'appeal');
    const lost = await happens(service, key, charge.id, { event: 'med_rule', result: 'agreed' });
    expect([lost.status, lost.metadata['med']]).toEqual(['disputed', expect.objectContaining({ result: 'agreed' })]);
    expect(await caseOf(service, key, charge.id)).toMatchObject({ status: 'rejected', money_outcome: 'lost' });
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 0 });
    expect((await told(4)).map(summary).slice(2)).toEqual([
      'med_case.updated rejected lost',
      'med.resolved rejected lost',
    ]);
    const refused = await requestRefund(service, key, charge.id);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'charge_disputed']);
    await expectQuiet(charge);
  });

  it('is final when it is accepted: the money is gone, and the ruling changes nothing', async () => {
    const { charge, medCase } = await aDisputedCharge(service, key);
    const accepted = await answerCase(service, key, medCase.id, 'accept');
    expect([accepted.status, accepted.body]).toEqual([
      200,
      expect.objectContaining({ status: 'accepted', money_outcome: 'lost', closed_at: expect.any(String) }),
    ]);
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 0 });
    for (const answer of ['accept', 'appeal'] as const) {
      const again = await answerCase<{ error: { code: string } }>(service, key, medCase.id, answer);
      expect([again.status, again.body.error.code]).toEqual([400, 'invalid_request']);
    }
    const ruled = await happens(service, key, charge.id, { event: 'med_rule', result: 'agreed' });
    expect([ruled.status, ruled.metadata['med']]).toEqual(['disputed', expect.objectContaining({ result: 'agreed' })]);
    expect(await caseOf(service, key, charge.id)).toEqual(accepted.body);
    expect((await told(3)).map(summary).slice(1)).toEqual([
      'med_case.updated accepted lost',
      'med.resolved accepted lost',
    ]);
    await expectQuiet(charge);
  });

  it.each([
    ['is withdrawn by the payer', { event: 'med_withdraw' }, 'canceled'],
    ['is ruled for the merchant before any answer', { event: 'med_rule', result: 'disagreed' }, 'closed'],
  ])('%s is closed, and the money is back', async (_what, body, bankStatus) => {
    const { charge } = await aDisputedCharge(service, key);
    const ended = await happens(service, key, charge.id, body);
    expect([ended.status, ended.metadata['med']]).toEqual(['paid', expect.objectContaining({ status: bankStatus })]);
    expect(await caseOf(service, key, charge.id)).toMatchObject({
      status: 'closed',
      money_outcome: 'refunded_to_merchant',
    });
    expect(await balance(service, key)).toEqual({ available: 100, pending: 0, retained: 0 });
    expect((await told(3)).map(summary)).toEqual([
      'med_case.created open –',
      'med_case.updated closed refunded_to_merchant',
      'med.resolved closed refunded_to_merchant',
    ]);
    await expectQuiet(charge);
  });

  it('is closed without refund when it is ruled for the payer before any answer', async () => {
    const { charge } = await aDisputedCharge(service, key);
    await happens(service, key, charge.id, { event: 'med_rule', result: 'agreed' });
    expect(await caseOf(service, key, charge.id)).toMatchObject({
      status: 'closed',
      money_outcome: 'closed_without_refund',
    });
    expect(await statusOf(charge.id)).toBe('disputed');
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 0 });
    expect((await told(3)).map(summary)[2]).toBe('med.resolved closed closed_without_refund');
    expect((await mailsTo(service, merchant.ownerEmail, 2))[1]?.subject).toContain('sem devolução');
  });

  it('is opened and ruled once although it is reported twice', async () => {
    const { charge } = await aDisputedCharge(service, key);
    const ruling = { event: 'med_rule', result: 'disagreed' };
    await happens(service, key, charge.id, ruling);
    const first = await caseOf(service, key, charge.id);
    await happens(service, key, charge.id, ruling);
    await happens(service, key, charge.id, { event: 'med_rule', result: 'agreed' });
    expect(await caseOf(service, key, charge.id)).toEqual(first);
    expect(await balance(service, key)).toEqual({ available: 100, pending: 0, retained: 0 });
    expect(await told(3)).toHaveLength(3);
  });
});
