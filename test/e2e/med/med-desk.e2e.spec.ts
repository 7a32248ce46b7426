import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MedDeadlines } from '../../../src/med/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import {
  aDisputedCharge,
  answerCase,
  balance,
  caseOf,
  casesOf,
  decideCase,
  eventsAbout,
  happens,
  medQueue,
  type MedReviewAnswer,
} from '../../support/med.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { aPaidCharge } from '../../support/refunds.js';
import { type Answer, type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

type Decided = MedReviewAnswer & { error?: { code: string; param?: string } };

/** Uses MED_AUTO_RULINGS=false: every ruling waits. */
describe('the desk of MED cases', () => {
  const service = TestService.forSpec({ env: { MED_AUTO_RULINGS: 'false' } });
  let merchant: Merchant;
  let key: string;
  let token: string;
  let operatorId: string;

  beforeAll(async () => {
    const operator = await service.operator();
    ({ token } = operator);
    operatorId = operator.userId;
  });
  beforeEach(async () => {
    merchant = await service.merchant();
    key = merchant.testKey;
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  const decide = (id: string, action: 'approve' | 'dismiss', body?: object): Promise<Answer<Decided>> =>
    decideCase<Decided>(service, token, id, action, body);
  const askForEvidence = (id: string): Promise<Answer<Decided>> =>
    service.call('POST', `/v1/operations/med/${id}/request-evidence`, { token });
  const waiting = async (charge: ChargeAnswer): Promise<MedReviewAnswer> => {
    const found = (await medQueue(service, token)).find((review) => review.case.charge_id === charge.id);
    if (!found) throw new Error(`Nothing of ${charge.id} waits`);
    return found;
  };
  /** Audit events of operators */
  const audited = (): Promise<{ type: string; data: Record<string, unknown>; actor_id: string }[]> =>
    service.sql(
      `SELECT type, data, actor_id FROM audit_events WHERE (account_id = $1 OR data ->> 'account_id' = $1::text)
         AND type LIKE 'med%' AND actor_id IS NOT NULL ORDER BY created_at, id`,
      [merchant.accountId],
    );

  async function mismatched(amount: number): Promise<ChargeAnswer> {
    const charge = await aPaidCharge(service, key, 1990);
    return happens(service, key, charge.id, { event: 'med_open', amount });
  }

  it('hides a case of another amount from the merchant: no status, hold, event or mail', async () => {
    const charge = await mismatched(2500);
    expect([charge.status, charge.metadata['med']]).toEqual([
      'paid',
      expect.objectContaining({ amountMismatch: true }),
    ]);
    expect(await balance(service, key)).toEqual({ available: 1990, pending: 0, retained: 0 });
    expect(await casesOf(service, key, charge.id)).toEqual([]);
    const { id, ...review } = await waiting(charge);
    expect(review).toMatchObject({ review: 'amount_mismatch', visible: false, reported_amount: 2500, held_amount: 0 });
    for (const action of ['', '/appeal', '/accept']) {
      const answer = await service.call(action === '' ? 'GET' : 'POST', `/v1/med/cases/${id}${action}`, {
        key,
        ...(action === '/appeal' ? { body: { reason: 'It was delivered.' } } : {}),
      });
      expect([action, answer.status]).toEqual([action, 404]);
    }
    expect(await eventsAbout(service, id)).toEqual([]);
    expect(await service.sql('SELECT 1 FROM emails WHERE account_id = $1', [merchant.accountId])).toEqual([]);
  });

  it('opens a case of another amount with the right amount', async () => {
    const charge = await mismatched(2500);
    const { id } = await waiting(charge);
    const tooMuch = await decide(id, 'approve', { amount: 1991 });
    expect([tooMuch.status, tooMuch.body.error?.param]).toEqual([400, 'amount']);
    const approved = await decide(id, 'approve', { amount: 1990 });
    expect([approved.status, approved.body]).toEqual([
      200,
      expect.objectContaining({ review: null, visible: true, held_amount: 1990, reviewed_by: operatorId }),
    ]);
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 1990 });
    expect(await caseOf(service, key, charge.id)).toMatchObject({ id, status: 'open', amount: 1990 });
    const read = (await service.getCharge(key, charge.id)).body;
    expect([read.status, read.metadata['med']]).toEqual([
      'disputed',
      expect.objectContaining({ amountMismatch: false }),
    ]);
    expect(await eventsAbout(service, id)).toEqual(['med_case.opened']);
    const again = await decide(id, 'approve', {});
    expect([again.status, again.body.error?.code]).toEqual([409, 'med_case_not_under_review']);
    expect(await audited()).toEqual([
      {
        type: 'med_case.approved',
        actor_id: operatorId,
        data: {
          case_id: id.slice(4),
          transaction_id: charge.id.slice(3),
          review: 'amount_mismatch',
          reported_amount: 2500,
          bank_status: 'created',
          bank_result: null,
          amount: 1990,
          status: 'open',
        },
      },
    ]);
  });

  it('opens a case of another amount with less, and rules it at once when the bank has ruled already', async () => {
    const charge = await mismatched(500);
    await happens(service, key, charge.id, { event: 'med_rule', result: 'disagreed' });
    const { id } = await waiting(charge);
    expect((await decide(id, 'approve')).status).toBe(200);
    expect(await balance(service, key)).toEqual({ available: 1490, pending: 0, retained: 500 });
    expect((await waiting(charge)).review).toBe('ruling');
    expect((await decide(id, 'approve', {})).body).toMatchObject({ review: null, held_amount: 0 });
    expect(await balance(service, key)).toEqual({ available: 1990, pending: 0, retained: 0 });
    expect(await caseOf(service, key, charge.id)).toMatchObject({ status: 'closed', amount: 500 });
  });

  it('dismisses a case of another amount unseen by the merchant, and shows it when the bank takes the money', async () => {
    const charge = await mismatched(2500);
    const { id } = await waiting(charge);
    expect((await decide(id, 'dismiss')).status).toBe(200);
    await happens(service, key, charge.id, { event: 'med_rule', result: 'agreed' });
    expect(await casesOf(service, key, charge.id)).toEqual([]);
    expect((await service.getCharge(key, charge.id)).body.metadata['med']).toBeUndefined();
    expect(await balance(service, key)).toEqual({ available: 1990, pending: 0, retained: 0 });
    expect(await waiting(charge)).toMatchObject({ id, review: 'contradiction', visible: false });
    expect((await decide(id, 'dismiss')).status).toBe(200);
    expect((await decide(id, 'dismiss')).status).toBe(409);
    expect((await askForEvidence(id)).body.error?.code).toBe('med_case_over');
    expect((await audited()).map(({ type }) => type)).toEqual(['med_case.dismissed', 'med_case.dismissed']);
    // The merchant's audit trail does not show it.
    const shown = 'SELECT 1 FROM audit_events WHERE account_id = $1 AND type = $2';
    expect(await service.sql(shown, [merchant.accountId, 'med_case.dismissed'])).toEqual([]);
  });

  it.each([
    ['agreed', 'closed', 'closed_without_refund', 0],
    ['disagreed', 'closed', 'refunded_to_merchant', 100],
  ])('keeps a ruling (%s) waiting, and leaves the case unchanged', async (result, status, outcome, available) => {
    const { charge, medCase } = await aDisputedCharge(service, key);
    await happens(service, key, charge.id, { event: 'med_rule', result });
    expect(await caseOf(service, key, charge.id)).toMatchObject({ status: 'open', money_outcome: null });
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 100 });
    const { id, review } = await waiting(charge);
    expect([id, review]).toEqual([medCase.id, 'ruling']);
    expect((await decide(id, 'approve', { amount: 50 })).status).toBe(400);
    expect((await decide(id, 'approve', {})).status).toBe(200);
    expect(await caseOf(service, key, charge.id)).toMatchObject({ status, money_outcome: outcome });
    expect(await balance(service, key)).toEqual({ available, pending: 0, retained: 0 });
  });

  it('shows a waiting ruling in metadata.med as the bank sent it, and stops the notices of the deadline', async () => {
    const deadline = { response_deadline: new Date(service.clock.now().getTime() + 30 * 3_600_000).toISOString() };
    const [{ charge, medCase }, other] = [
      await aDisputedCharge(service, key, 100, deadline),
      await aDisputedCharge(service, key, 100, deadline),
    ];
    const ruled = await happens(service, key, charge.id, { event: 'med_rule', result: 'agreed' });
    expect([ruled.status, ruled.metadata['med']]).toEqual([
      'disputed',
      expect.objectContaining({ status: 'closed', result: 'agreed', closedAt: expect.any(String) }),
    ]);
    const notices = async (id: string): Promise<number> =>
      (await eventsAbout(service, id)).filter((type) => type === 'med_case.deadline_approaching').length;
    // Moves to one hour before the notice at 24 hours.
    await service.sql('UPDATE med_cases SET deadline_due_at = opened_at WHERE id = ANY ($1::uuid[])', [
      [medCase.id.slice(4), other.medCase.id.slice(4)],
    ]);
    while (await service.get(MedDeadlines).sweep());
    await waitFor('the notice of the other', async () => ((await notices(other.medCase.id)) === 1 ? true : null));
    expect(await notices(medCase.id)).toBe(0);
    // After the dismissal the case goes on: the next notice is sent.
    await decide(medCase.id, 'dismiss');
    await service.sql('UPDATE med_cases SET deadline_due_at = opened_at WHERE id = $1', [medCase.id.slice(4)]);
    await waitFor('the next notice', async () => {
      while (await service.get(MedDeadlines).sweep());
      return (await notices(medCase.id)) === 1 ? true : null;
    });
  });

  it('accepts an appeal while a ruling waits, and does not apply a dismissed ruling', async () => {
    const { charge, medCase } = await aDisputedCharge(service, key);
    await happens(service, key, charge.id, { event: 'med_rule', result: 'agreed' });
    expect((await answerCase(service, key, medCase.id, 'appeal')).body.status).toBe('appealed');
    expect((await decide(medCase.id, 'dismiss')).body).toMatchObject({ review: 'ruling_dismissed', visible: true });
    expect((await waiting(charge)).review).toBe('ruling_dismissed');
    expect((await decide(medCase.id, 'dismiss')).status).toBe(409);
    expect(await caseOf(service, key, charge.id)).toMatchObject({ status: 'appealed', money_outcome: null });
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 100 });
  });

  it('can approve a dismissed ruling after all', async () => {
    const { charge, medCase } = await aDisputedCharge(service, key);
    expect((await decide(medCase.id, 'approve', {})).status).toBe(409);
    await happens(service, key, charge.id, { event: 'med_rule', result: 'disagreed' });
    await decide(medCase.id, 'dismiss');
    expect(await balance(service, key)).toEqual({ available: 0, pending: 0, retained: 100 });
    expect((await decide(medCase.id, 'approve', { amount: 50 })).status).toBe(400);
    expect((await decide(medCase.id, 'approve', {})).status).toBe(200);
    expect(await caseOf(service, key, charge.id)).toMatchObject({ money_outcome: 'refunded_to_merchant' });
    expect(await balance(service, key)).toEqual({ available: 100, pending: 0, retained: 0 });
    expect((await decide(medCase.id, 'approve', {})).status).toBe(409);
  });

  it('refuses a decision about an older version than the current one', async () => {
    const { charge, medCase } = await aDisputedCharge(service, key);
    await happens(service, key, charge.id, { event: 'med_rule', result: 'agreed' });
    const { id, version } = await waiting(charge);
    await answerCase(service, key, medCase.id, 'appeal');
    for (const action of ['approve', 'dismiss']) {
      for (const [body, status, told] of [
        [{ version }, 409, 'med_case_changed'],
        [{}, 400, 'invalid_request'],
        [{ version: 'x' }, 400, 'invalid_request'],
      ] as const) {
        const path = `/v1/operations/med/${id}/${action}`;
        const answer = await service.call<Decided>('POST', path, { token, body });
        expect([answer.status, answer.body.error?.code]).toEqual([status, told]);
      }
    }
    expect(await audited()).toEqual([]);
    expect((await waiting(charge)).version).not.toBe(version);
    expect((await decide(id, 'approve')).status).toBe(200);
    expect(await caseOf(service, key, charge.id)).toMatchObject({ status: 'rejected', money_outcome: 'lost' });
    expect(await audited()).toMatchObject([
      { type: 'med_case.approved', data: { review: 'ruling', bank_status: 'closed', bank_result: 'agreed' } },
    ]);
  });

  it('refuses to request evidence when the merchant could not send it any more', async () => {
    const { medCase } = await aDisputedCharge(service, key);
    await service.sql(`UPDATE med_cases SET response_deadline = now() - interval '1 second' WHERE id = $1`, [
      medCase.id.slice(4),
    ]);
    const answer = await askForEvidence(medCase.id);
    expect([answer.status, answer.body.error?.code]).toEqual([409, 'med_case_over']);
    expect(await audited()).toEqual([]);
  });

  it('requests evidence, and notifies the merchant', async () => {
    const receiver = await WebhookReceiver.start();
    const body = { url: receiver.url, events: ['med_case.updated'] };
    await service.call('POST', '/v1/webhooks/endpoints', { key, body });
    const { medCase } = await aDisputedCharge(service, key);
    expect((await askForEvidence(medCase.id)).status).toBe(200);
    const [webhook] = await receiver.waitForType('med_case.updated');
    expect(webhook?.body['data']).toMatchObject({
      object: { id: medCase.id, status: 'open', evidence_requested_at: expect.any(String) },
    });
    expect((await audited()).map(({ type }) => type)).toEqual(['med_case.evidence_requested']);
    await receiver.stop();
  });

  it('switches the notifications of outcomes of an account off, and on again', async () => {
    const receiver = await WebhookReceiver.start();
    await service.call('POST', '/v1/webhooks/endpoints', { key, body: { url: receiver.url, events: ['*'] } });
    const notify = (outcome_notifications: boolean): Promise<Answer> =>
      service.call('PATCH', `/v1/operations/med/accounts/${merchant.accountId}`, {
        token,
        body: { outcome_notifications },
      });
    expect((await notify(false)).body).toEqual({
      account_id: merchant.accountId,
      object: 'med_notifications',
      outcome_notifications: false,
    });
    const quiet = await aDisputedCharge(service, key);
    const other = await aDisputedCharge(service, key);
    await answerCase(service, key, other.medCase.id, 'appeal');
    await answerCase(service, key, quiet.medCase.id, 'accept');
    await notify(true);
    const loud = await aDisputedCharge(service, key);
    await answerCase(service, key, loud.medCase.id, 'accept');
    const [resolved] = await receiver.waitForType('med.resolved');
    expect(resolved?.body['data']).toMatchObject({ object: { id: loud.medCase.id } });
    expect(receiver.ofType('med.resolved')).toHaveLength(1);
    const updated = await receiver.waitForType('med_case.updated', 2);
    expect(
      updated.map(({ body }) => (body['data'] as { object: { id: string; status: string } }).object.status).sort(),
    ).toEqual(['accepted', 'appealed']);
    // People still get the mails.
    const mails = await service.sql<{ subject: string }>(
      `SELECT subject FROM emails WHERE account_id = $1 AND subject LIKE 'TESTE: MED encerrado%'`,
      [merchant.accountId],
    );
    expect(mails).toHaveLength(2);
    await receiver.stop();
  });
});
