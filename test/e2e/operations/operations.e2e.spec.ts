import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SettlementService } from '../../../src/transactions/index.js';
import { ReturnCalls } from '../../../src/transactions/returns/return-calls.service.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { WebhookReceiver } from '../../support/receiver.js';
import {
  type Answer,
  type ChargeAnswer,
  type Merchant,
  PASSWORD,
  type Person,
  TestService,
} from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface Body extends Record<string, unknown> {
  id: string;
  status: string;
  data: Body[];
  has_more: boolean;
  next_cursor: string | null;
  error: { type: string; code: string; details?: { param: string; code: string }[] };
}

const ACCOUNTS = '/v1/operations/accounts';
const REVIEWS = '/v1/operations/reviews';
const NOBODY = '019aa0f0-0000-7000-8000-00000000dead';

const service = TestService.forSpec();
let operator: Person;

beforeAll(async () => {
  operator = await service.operator();
});
afterEach(() => expectLedgerCoherent(service.database.url));

function ask(method: string, path: string, body?: unknown, token = operator.token): Promise<Answer<Body>> {
  return service.call<Body>(method, path, { token, ...(body === undefined ? {} : { body }) });
}

function codeOf(answer: Answer<Body>): string {
  return `${String(answer.status)} ${answer.body.error.code}`;
}

async function auditOf(accountId: string, type: string): Promise<{ actor: string; data: Record<string, unknown> }[]> {
  return service.sql(
    `SELECT actor_id AS actor, data FROM audit_events WHERE account_id = $1 AND type = $2 ORDER BY id`,
    [accountId, type],
  );
}

describe('accounts', () => {
  const newAccount = (): Record<string, unknown> => ({
    name: 'Livraria Azul',
    email: `ana-${randomUUID()}@example.com`,
  });

  it('invite their owner by mail, and store settings in their JSON types', async () => {
    const input = newAccount();
    const made = await ask('POST', ACCOUNTS, {
      ...input,
      contact_email: 'finance@example.com',
      city: 'Recife',
      fee_bps: 99,
      fee_fixed: 10,
      pix_out_fee: 35,
      release_days: 2,
      payer_lock: true,
      default_expires_in: 600,
      fraud_mode: 'shadow',
      fraud_velocity: 5,
      fraud_max_amount: 50_000,
      fraud_blocked_documents: ['529.982.247-25'],
    });
    expect(made.status).toBe(201);
    expect(made.body).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      object: 'account',
      name: 'Livraria Azul',
      contact_email: 'finance@example.com',
      city: 'Recife',
      fee_bps: 99,
      fee_fixed: 10,
      pix_out_fee: 35,
      release_days: 2,
      reserve_bps: 0,
      reserve_days: 0,
      payer_lock: true,
      default_expires_in: 600,
      med_outcome_notifications: true,
      fraud_mode: 'shadow',
      fraud_velocity: 5,
      fraud_max_amount: 50_000,
      fraud_blocked_documents: ['52998224725'],
      accent: null,
      logo: null,
      payer_receipts: true,
      negative_notice_days: 7,
      ...{ tax_id: null, payout_fee: 0, payouts_to: null, payout_approval_above: null },
      ...{ payout_new_destination_hours: null, payout_max: null, payout_daily_max: null },
      ...{ payout_night_max: null, payout_schedule: null, monthly_closing: false },
      suspended: false,
      created_at: expect.stringMatching(/Z$/),
    });
    expect((await ask('GET', `${ACCOUNTS}/${made.body.id}`)).body).toEqual(made.body);
    const email = String(input['email']);
    const body = { token: await service.mailedToken(email), password: PASSWORD };
    expect((await service.call('POST', '/v1/auth/accept-invitation', { body })).status).toBe(204);
    const token = await service.login(email);
    const key = await service.call('POST', '/v1/api-keys', { token, body: { test: true } });
    expect(key.status).toBe(201);
    expect(await auditOf(made.body.id, 'account.created')).toEqual([
      { actor: operator.userId, data: expect.any(Object) },
    ]);
  });

  it('have defaults for unsent settings', async () => {
    const input = newAccount();
    expect((await ask('POST', ACCOUNTS, input)).body).toMatchObject({
      contact_email: input['email'],
      city: 'SAO PAULO',
      fee_bps: 0,
      pix_out_fee: 0,
      payer_lock: false,
      fraud_mode: 'enforce',
      fraud_velocity: 30,
      fraud_max_amount: null,
      fraud_blocked_documents: [],
    });
  });

  it('are listed newest first, page by page', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.unshift((await ask('POST', ACCOUNTS, newAccount())).body.id);
    const first = (await ask('GET', `${ACCOUNTS}?limit=2`)).body;
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect({ more: first.has_more, cursor: first.next_cursor }).toEqual({ more: true, cursor: ids[1] });
    const second = (await ask('GET', `${ACCOUNTS}?limit=2&starting_after=${String(first.next_cursor)}`)).body;
    expect(second.data[0]?.id).toBe(ids[2]);
    const since = (await ask('GET', `${ACCOUNTS}?created_after=${String(second.data[0]?.['created_at'])}`)).body;
    expect(since.data.map(({ id }) => id)).toEqual(ids);
  });

  it('are changed field by field, from the next request on and recorded', async () => {
    const merchant = await service.merchant();
    const path = `${ACCOUNTS}/${merchant.accountId}`;
    const before = (await ask('GET', path)).body;
    const changed = await ask('PATCH', path, { fee_bps: 150, fraud_max_amount: 1_000, name: 'Padaria Nova' });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({ ...before, fee_bps: 150, fraud_max_amount: 1_000, name: 'Padaria Nova' });
    expect((await service.createCharge(merchant.testKey, { amount: 1_001 })).status).toBe(403);
    expect((await ask('PATCH', path, { fraud_max_amount: null })).body).toEqual({
      ...changed.body,
      fraud_max_amount: null,
    });
    expect((await service.createCharge(merchant.testKey, { amount: 1_001 })).status).toBe(201);
    expect((await ask('PATCH', path, {})).body.fee_bps).toBe(150);
    const [event, ...others] = await auditOf(merchant.accountId, 'account.settings_changed');
    expect(event).toEqual({
      actor: operator.userId,
      data: {
        changes: {
          fee_bps: { from: 0, to: 150 },
          fraud_max_amount: { from: null, to: 1_000 },
          name: { from: 'Padaria São João', to: 'Padaria Nova' },
        },
      },
    });
    expect(others).toHaveLength(1);
  });

  it.each([
    [{ fee_bps: '150' }, ['fee_bps invalid']],
    [{ fee_bps: null }, ['fee_bps invalid']],
    [{ fee_bps: 10_001, release_days: -1 }, ['fee_bps invalid', 'release_days invalid']],
    [{ payer_lock: 'true' }, ['payer_lock invalid']],
    [{ fraud_mode: 'on' }, ['fraud_mode invalid']],
    [{ fraud_velocity: 0 }, ['fraud_velocity invalid']],
    [{ fraud_max_amount: 0 }, ['fraud_max_amount invalid']],
    [{ fraud_blocked_documents: ['1'] }, ['fraud_blocked_documents invalid']],
    [{ fraud_blocked_documents: 'none' }, ['fraud_blocked_documents invalid']],
    [{ name: ' ' }, ['name invalid']],
    [{ name: '\u200b\u3164' }, ['name invalid']],
    [{ id: NOBODY, payerLock: true }, ['id unknown_field', 'payerLock unknown_field']],
    [{ email: 'x@example.com' }, ['email unknown_field']],
  ])('refuse %j', async (body, violations) => {
    const { accountId } = await service.merchant();
    const answer = await ask('PATCH', `${ACCOUNTS}/${accountId}`, body);
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(answer.body.error.details?.map(({ param, code }) => `${param} ${code}`)).toEqual(violations);
    expect(await auditOf(accountId, 'account.settings_changed')).toEqual([]);
  });

  it('require a name and an e-mail', async () => {
    for (const [body, params] of [
      [{}, ['name', 'email']],
      [{ ...newAccount(), password: PASSWORD }, ['password']],
      [{ ...newAccount(), email: 'nobody', fee_bps: 1.5 }, ['fee_bps']],
      [{ ...newAccount(), email: 'nobody' }, ['email']],
      [{ ...newAccount(), name: 'x'.repeat(121) }, ['name']],
      [{ ...newAccount(), name: '\u2800\u200b' }, ['name']],
    ] as const) {
      const answer = await ask('POST', ACCOUNTS, body);
      expect(codeOf(answer)).toBe('400 invalid_request');
      expect([...new Set(answer.body.error.details?.map(({ param }) => param))]).toEqual(params);
    }
  });

  it('are created with the same answer for a known e-mail, whose owner cannot accept', async () => {
    const { ownerEmail } = await service.merchant();
    const made = await ask('POST', ACCOUNTS, { ...newAccount(), email: ownerEmail });
    expect(made.status).toBe(201);
    const body = { token: await service.mailedToken(ownerEmail), password: 'another good one' };
    const answer = await service.call<{ error: { param: string } }>('POST', '/v1/auth/accept-invitation', { body });
    expect(answer).toMatchObject({ status: 400, body: { error: { param: 'email' } } });
    expect(await service.login(ownerEmail)).toEqual(expect.any(String));
  });

  it.each(['GET', 'PATCH'])('are 404 when unknown, even with a malformed id: %s', async (method) => {
    for (const id of [NOBODY, 'nobody', `acc_${NOBODY}`, '%00']) {
      expect(codeOf(await ask(method, `${ACCOUNTS}/${id}`, method === 'PATCH' ? {} : undefined))).toBe('404 not_found');
    }
  });
});

describe('payments that are held because the payer is unknown', () => {
  let merchant: Merchant;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
  });
  beforeEach(async () => {
    merchant = await service.merchant({ payer_lock: 'true', fee_bps: '100', fee_fixed: '10' });
    receiver.received.length = 0;
    await service.call('POST', '/v1/webhooks/endpoints', {
      key: merchant.testKey,
      body: { url: receiver.url, events: ['*', 'payment.completed', 'payment.refunded', 'payment.status_changed'] },
    });
  });
  afterAll(() => receiver.stop());

  const held = (body: Record<string, unknown> = {}): Promise<{ chargeId: string; reviewId: string }> =>
    service.heldCharge(merchant.testKey, body);
  const available = async (): Promise<number> =>
    (await service.call<{ available: number }>('GET', '/v1/wallets/balance', { key: merchant.testKey })).body.available;
  const returnsOf = (chargeId: string): Promise<Record<string, unknown>[]> =>
    service.sql('SELECT amount, status, reason FROM pix_returns WHERE transaction_id = $1', [chargeId.slice(3)]);
  const accept = (id: string): Promise<Answer<Body>> => ask('POST', `${REVIEWS}/${id}/accept`);
  const sendBack = (id: string): Promise<Answer<Body>> => ask('POST', `${REVIEWS}/${id}/return`);

  it('are listed with all that an operator needs to decide, and leave the list when decided', async () => {
    const { chargeId, reviewId } = await held({ amount: 12_345 });
    const other = await held();
    const [newest, review] = (await ask('GET', `${REVIEWS}?limit=2`)).body.data;
    expect(newest?.id).toBe(other.reviewId);
    expect(review).toStrictEqual({
      id: reviewId,
      object: 'review',
      status: 'pending',
      account: { id: merchant.accountId, name: 'Padaria São João' },
      mode: 'test',
      charge_id: chargeId,
      amount: 12_345,
      currency: 'BRL',
      expected_payer_tax_id: '52998224725',
      reported_payer_tax_id: null,
      reason: 'payer_unknown',
      acquirer: 'sandbox',
      end_to_end_id: expect.stringMatching(/^E[A-Za-z0-9]{31}$/),
      settled_at: expect.stringMatching(/Z$/),
      created_at: expect.stringMatching(/Z$/),
      reviewed_at: null,
      reviewed_by: null,
    });
    await accept(reviewId);
    await sendBack(other.reviewId);
    const ids = (await ask('GET', `${REVIEWS}?limit=100`)).body.data.map(({ id }) => id);
    expect(ids).not.toContain(reviewId);
    expect(ids).not.toContain(other.reviewId);
  });

  it('are listed page by page, by mode and time', async () => {
    const reviews: string[] = [];
    for (let count = 0; count < 3; count++) reviews.unshift((await held()).reviewId);
    const first = (await ask('GET', `${REVIEWS}?limit=2`)).body;
    expect(first.data.map(({ id }) => id)).toEqual(reviews.slice(0, 2));
    const second = (await ask('GET', `${REVIEWS}?limit=1&starting_after=${String(first.next_cursor)}`)).body;
    expect(second.data.map(({ id }) => id)).toEqual(reviews.slice(2));
    expect((await ask('GET', `${REVIEWS}?mode=live`)).body).toStrictEqual({
      object: 'list',
      data: [],
      has_more: false,
      next_cursor: null,
    });
    expect((await ask('GET', `${REVIEWS}?mode=test&limit=1`)).body.data[0]?.id).toBe(reviews[0]);
    expect((await ask('GET', `${REVIEWS}?created_before=2020-01-01`)).body.data).toEqual([]);
    for (const query of ['limit=0', 'mode=both', 'starting_after=x', 'created_after=x', 'status=pending']) {
      expect(codeOf(await ask('GET', `${REVIEWS}?${query}`))).toBe('400 invalid_request');
    }
  });

  it('are credited when accepted: paid, in the wallet, announced, recorded', async () => {
    const { chargeId, reviewId } = await held({ amount: 10_000 });
    expect(await available()).toBe(0);
    const accepted = await accept(reviewId);
    expect(accepted.status).toBe(200);
    expect(accepted.body).toMatchObject({
      id: reviewId,
      status: 'accepted',
      reviewed_at: expect.stringMatching(/Z$/),
      reviewed_by: operator.userId,
    });
    const charge = (await service.getCharge(merchant.testKey, chargeId)).body;
    expect(charge.status).toBe('paid');
    expect(charge.settlement.end_to_end_id).toBe(accepted.body['end_to_end_id']);
    // 1 % of 10 000 and 10 fixed.
    expect(await available()).toBe(9_890);
    const [paid] = await receiver.waitForType('charge.paid');
    expect(paid?.body).toMatchObject({ data: { object: charge } });
    const [completed] = await receiver.waitForType('payment.completed');
    expect(completed?.body).toMatchObject({ data: { status: 'PAID', previousStatus: 'PROCESSING', netAmount: 9_890 } });
    expect(await auditOf(merchant.accountId, 'review.accepted')).toEqual([
      {
        actor: operator.userId,
        data: {
          review_id: reviewId,
          transaction_id: chargeId.slice(3),
          amount: 10_000,
          end_to_end_id: accepted.body['end_to_end_id'],
        },
      },
    ]);
    expect(await returnsOf(chargeId)).toEqual([]);
  });

  it('wait for their release when accepted, as any payment', async () => {
    const later = await service.merchant({ payer_lock: 'true', release_days: '1' });
    const { reviewId } = await service.heldCharge(later.testKey, { amount: 700 });
    await accept(reviewId);
    const balance = await service.call('GET', '/v1/wallets/balance', { key: later.testKey });
    expect(balance.body).toMatchObject({ available: 0, pending: 700, next_release_amount: 700 });
  });

  it('go back when returned: refunded, a Pix return, announced, recorded', async () => {
    const { chargeId, reviewId } = await held();
    const returned = await sendBack(reviewId);
    expect(returned.status).toBe(200);
    expect(returned.body).toMatchObject({ status: 'returned', reviewed_by: operator.userId });
    expect((await service.getCharge(merchant.testKey, chargeId)).body).toMatchObject({
      status: 'refunded',
      settlement: {},
    });
    expect(await available()).toBe(0);
    const [sent] = await waitFor('the money to be back', async () => {
      const rows = await returnsOf(chargeId);
      service.clock.advance(1);
      return rows[0]?.['status'] === 'RETURNED' ? rows : null;
    });
    expect(sent).toEqual({ amount: '1990', status: 'RETURNED', reason: 'review_returned' });
    const [refunded] = await receiver.waitForType('payment.refunded');
    expect(refunded?.body).toMatchObject({ data: { status: 'REFUNDED', previousStatus: 'PROCESSING' } });
    expect(receiver.ofType('charge.paid')).toEqual([]);
    expect(await auditOf(merchant.accountId, 'review.returned')).toHaveLength(1);
  });

  it.each([
    ['accept', 'return'],
    ['return', 'accept'],
  ])('stay as decided when %s is repeated, and refuse %s', async (decision, otherwise) => {
    const { chargeId, reviewId } = await held();
    const first = await ask('POST', `${REVIEWS}/${reviewId}/${decision}`);
    const colleague = await service.operator();
    for (let count = 0; count < 3; count++) {
      const again = await ask('POST', `${REVIEWS}/${reviewId}/${decision}`, undefined, colleague.token);
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body });
    }
    expect(codeOf(await ask('POST', `${REVIEWS}/${reviewId}/${otherwise}`))).toBe('409 review_already_decided');
    expect(await available()).toBe(decision === 'accept' ? 1990 - 20 - 10 : 0);
    expect(await returnsOf(chargeId)).toHaveLength(decision === 'accept' ? 0 : 1);
    const type = decision === 'accept' ? 'review.accepted' : 'review.returned';
    expect(await auditOf(merchant.accountId, type)).toHaveLength(1);
  });

  it('have one decision, however many operators decide at once', async () => {
    const colleague = await service.operator();
    for (let round = 0; round < 10; round++) {
      const before = await available();
      const { chargeId, reviewId } = await held();
      const asked = ['accept', 'return', 'accept', 'return', 'accept', 'return'].map((decision, index) =>
        ask(
          'POST',
          `${REVIEWS}/${reviewId}/${decision}`,
          undefined,
          index % 3 === 0 ? colleague.token : operator.token,
        ),
      );
      const answers = await Promise.all(asked);
      const won = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => JSON.stringify(body)));
      expect(won.size).toBe(1);
      const lost = answers.filter(({ status }) => status !== 200).map(codeOf);
      expect(lost).toEqual(Array<string>(3).fill('409 review_already_decided'));
      const { status } = (await service.getCharge(merchant.testKey, chargeId)).body;
      const accepted = [...won][0]?.includes('"status":"accepted"') === true;
      expect(status).toBe(accepted ? 'paid' : 'refunded');
      expect((await available()) - before).toBe(accepted ? 1960 : 0);
      expect(await returnsOf(chargeId)).toHaveLength(accepted ? 0 : 1);
      await expectLedgerCoherent(service.database.url);
    }
  });

  it('are not decided or credited twice by repeated notifications of the bank', async () => {
    const { chargeId, reviewId } = await held();
    const { body } = await accept(reviewId);
    const pay = { event: 'pay', end_to_end_id: body['end_to_end_id'], payer_document: null };
    await service.simulate(merchant.testKey, chargeId, pay);
    expect(await available()).toBe(1960);
    const [row] = await service.sql<{ txid: string }>('SELECT txid FROM transactions WHERE id = $1', [
      chargeId.slice(3),
    ]);
    const money = {
      ...{ endToEndId: String(body['end_to_end_id']), txid: row?.txid ?? '', amount: 1990, method: 'PIX' as const },
      ...{ settledAt: new Date(), fee: 0, payerDocument: null },
    };
    const again = await service.get(SettlementService).settle('sandbox', money, null);
    expect(again).toBe('applied');
    expect(await available()).toBe(1960);
  });

  const cancel = (chargeId: string): Promise<Answer<Body>> =>
    service.call<Body>('POST', `/v1/payments/${chargeId}/cancel`, { key: merchant.testKey });

  it('end when the merchant cancels the charge: the money goes back, and an operator can no longer decide', async () => {
    const { chargeId, reviewId } = await held();
    expect(await cancel(chargeId)).toMatchObject({ status: 200, body: { previousStatus: 'PROCESSING' } });
    for (const decide of [accept, sendBack, accept]) {
      expect(codeOf(await decide(reviewId))).toBe('409 review_already_decided');
    }
    const ids = (await ask('GET', `${REVIEWS}?limit=100`)).body.data.map(({ id }) => id);
    expect(ids).not.toContain(reviewId);
    expect(await returnsOf(chargeId)).toEqual([expect.objectContaining({ amount: '1990', reason: 'cancelled' })]);
    expect((await service.getCharge(merchant.testKey, chargeId)).body.status).toBe('cancelled');
    expect(await available()).toBe(0);
    const told = await service.sql(`SELECT 1 FROM audit_events WHERE account_id = $1 AND type ~ '^review'`, [
      merchant.accountId,
    ]);
    expect(told).toEqual([]);
  });

  it.each(['accept', 'return'])(
    'are decided once by the operator’s %s or the merchant’s simultaneous cancellation',
    async (decision) => {
      const outcomes = {
        accept: { status: 'paid', credit: 1960, back: 0 },
        return: { status: 'refunded', credit: 0, back: 1 },
      };
      for (let round = 0; round < 16; round++) {
        const before = await available();
        const { chargeId, reviewId } = await held();
        const decide = (): Promise<Answer<Body>> => ask('POST', `${REVIEWS}/${reviewId}/${decision}`);
        const [cancelled, decided] =
          round % 2 === 0
            ? await Promise.all([cancel(chargeId), decide()])
            : await Promise.all([decide(), cancel(chargeId)]).then(([one, other]) => [other, one] as const);
        if (cancelled.status === 200) {
          expect(codeOf(decided)).toBe('409 review_already_decided');
        } else {
          expect(decided.status).toBe(200);
          expect(codeOf(cancelled)).toBe('400 payment_not_cancellable');
        }
        const expected =
          cancelled.status === 200
            ? { status: 'cancelled', credit: 0, back: 1 }
            : outcomes[decision as keyof typeof outcomes];
        expect({
          status: (await service.getCharge(merchant.testKey, chargeId)).body.status,
          credit: (await available()) - before,
          back: (await returnsOf(chargeId)).length,
        }).toEqual(expected);
        await expectLedgerCoherent(service.database.url);
      }
    },
  );

  it.each(['accept', 'return'])('are a 404 when they do not exist: %s', async (decision) => {
    const { body: charge } = await service.createCharge(merchant.testKey);
    await service.simulate(merchant.testKey, charge.id, { event: 'pay' });
    const [credited] = await service.sql<{ id: string }>('SELECT id FROM settlements WHERE transaction_id = $1', [
      charge.id.slice(3),
    ]);
    for (const id of [NOBODY, 'nobody', charge.id, credited?.id ?? '']) {
      expect(codeOf(await ask('POST', `${REVIEWS}/${id}/${decision}`))).toBe('404 not_found');
    }
  });
});

describe('Pix that match no charge', () => {
  it('are listed, with their payer masked', async () => {
    const endToEndId = 'E00000000202611211530abcDEF12345';
    const about = { settledAt: new Date(), fee: 0, payerDocument: '11144477735', method: 'PIX' as const };
    const pix = { endToEndId, txid: null, amount: 777, ...about };
    expect(await service.get(SettlementService).settle('sandbox', pix, null)).toBe('applied');
    const { status, body, text } = await ask('GET', '/v1/operations/unmatched?limit=1');
    expect(status).toBe(200);
    expect(body.data).toStrictEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        object: 'unmatched_pix',
        amount: 777,
        acquirer: 'sandbox',
        end_to_end_id: endToEndId,
        txid: null,
        charge_id: null,
        reason: null,
        reported_payer_tax_id: '***.444.777-**',
        account_id: null,
        failure_reason: null,
        correction_id: null,
        settled_at: pix.settledAt.toISOString(),
        created_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect(text).not.toContain('11144477735');
    expect(codeOf(await ask('GET', '/v1/operations/unmatched?limit=none'))).toBe('400 invalid_request');
  });
});

describe('payments that were sent back', () => {
  const RETURNED = '/v1/operations/returned';
  let merchant: Merchant;
  let charge: ChargeAnswer;

  const list = async (query: string): Promise<Body[]> => {
    const answer = await ask('GET', `${RETURNED}?${query}`);
    expect(answer.status).toBe(200);
    return answer.body.data;
  };

  const gone = (count: number): Promise<unknown> =>
    waitFor('them to have gone back', async () => {
      return (await list(`account_id=${merchant.accountId}&status=returned`)).length === count;
    });

  beforeAll(async () => {
    merchant = await service.merchant();
    ({ body: charge } = await service.createCharge(merchant.testKey));
    await service.simulate(merchant.testKey, charge.id, { event: 'pay', amount: 10, payer_document: '11144477735' });
    await gone(1);
    await service.simulate(merchant.testKey, charge.id, { event: 'pay' });
    await service.simulate(merchant.testKey, charge.id, { event: 'pay' });
    await gone(2);
  });

  it('are listed, newest first, with their payer masked', async () => {
    const [double, wrong] = await list(`account_id=${merchant.accountId}`);
    expect(wrong).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      object: 'returned_payment',
      status: 'returned',
      account: { id: merchant.accountId, name: 'Padaria São João' },
      mode: 'test',
      charge_id: charge.id,
      amount: 10,
      currency: 'BRL',
      reason: 'wrong_amount',
      method: 'PIX',
      reported_payer_tax_id: '***.444.777-**',
      acquirer: 'sandbox',
      end_to_end_id: expect.stringMatching(/^E/),
      return_id: expect.stringMatching(/./),
      failure_reason: null,
      settled_at: expect.stringMatching(/Z$/),
      created_at: expect.stringMatching(/Z$/),
      returned_at: expect.stringMatching(/Z$/),
    });
    expect(double).toMatchObject({ charge_id: charge.id, amount: 1990, reason: 'duplicate' });
    const { body } = await service.getCharge(merchant.testKey, charge.id);
    expect(body['returns']).toEqual(
      [wrong, double].map((pix) => ({
        amount: pix?.['amount'],
        reason: pix?.['reason'],
        end_to_end_id: pix?.['end_to_end_id'],
        at: pix?.['returned_at'],
      })),
    );
  });

  it('are filtered by account, mode, reason, state and time, in pages', async () => {
    const of = `account_id=${merchant.accountId}`;
    const [double, wrong] = await list(of);
    const ids = async (query: string): Promise<string[]> => (await list(`${of}&${query}`)).map(({ id }) => id);
    expect(await ids('reason=duplicate')).toEqual([double?.id]);
    expect(await ids('reason=late')).toEqual([]);
    expect(await ids('mode=test&reason=wrong_amount&status=returned')).toEqual([wrong?.id]);
    expect(await ids('mode=live')).toEqual([]);
    expect(await ids('status=failed')).toEqual([]);
    expect(await list('account_id=019aa0f0-0000-7000-8000-00000000dead')).toEqual([]);
    expect(await ids('created_before=2020-01-01')).toEqual([]);
    expect(await ids(`created_after=${String(wrong?.['created_at'])}`)).toEqual([double?.id, wrong?.id]);
    const { body: first } = await ask('GET', `${RETURNED}?${of}&limit=1`);
    expect([first.data.map(({ id }) => id), first.has_more, first.next_cursor]).toEqual([
      [double?.id],
      true,
      double?.id,
    ]);
    expect(await ids(`starting_after=${String(first.next_cursor)}`)).toEqual([wrong?.id]);
    for (const query of ['status=RETURNED', 'reason=unknown', 'mode=prod', 'account_id=x', 'limit=0', 'charge=1']) {
      expect([query, codeOf(await ask('GET', `${RETURNED}?${query}`))]).toEqual([query, '400 invalid_request']);
    }
  });

  it('are listed when the bank refused to send them back, unseen by the merchant', async () => {
    const { body: other } = await service.createCharge(merchant.testKey);
    await service.simulate(merchant.testKey, other.id, { event: 'expire' });
    const { body: before } = await service.getCharge(merchant.testKey, other.id);
    // The sandbox's bank never refuses.
    const refusal = jest
      .spyOn(service.get(ReturnCalls), 'advance')
      .mockResolvedValue({ kind: 'failed', reason: 'insufficient_funds' });
    await service.simulate(merchant.testKey, other.id, { event: 'pay' });
    await waitFor(
      'the refusal',
      async () => (await list(`account_id=${merchant.accountId}&status=failed`)).length === 1,
    );
    refusal.mockRestore();
    expect(await list(`account_id=${merchant.accountId}&status=failed`)).toMatchObject([
      { charge_id: other.id, status: 'failed', failure_reason: 'insufficient_funds', returned_at: null },
    ]);
    expect((await service.getCharge(merchant.testKey, other.id)).body).toEqual(before);
  });

  it('are shown to operators only', async () => {
    const { token } = await service.member(merchant.accountId, 'OWNER');
    expect(codeOf(await ask('GET', RETURNED, undefined, token))).toBe('403 forbidden');
    const answers = [
      await service.call<Body>('GET', RETURNED),
      await service.call<Body>('GET', RETURNED, { key: merchant.testKey }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([401, 401]);
  });
});
