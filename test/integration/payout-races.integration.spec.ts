import { afterEach, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../support/coherence.js';
import { happens } from '../support/med.js';
import {
  aFundedMerchant,
  aPayout,
  CPF,
  openPayouts,
  OTHER_CPF,
  type PayoutOrError,
  readPayout,
  requestPayout,
  simulatePayout,
  wallet,
} from '../support/payouts.js';
import { aPaidCharge, openRefunds, paymentIdOf, requestRefund } from '../support/refunds.js';
import { type Answer, type ChargeAnswer, type Merchant, type Person, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

const KINDS = 16;
const ROUNDS = 4;
const FEE = 7;
const SALE = 100;

/** The wallet after every operation that was accepted, in cents. */
interface Expected {
  available: number;
  retained: number;
}

function times<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)));
}

describe('payouts that race', () => {
  const service = TestService.forSpec();

  afterEach(async () => {
    await settled();
    await expectLedgerCoherent(service.database.url);
    const [row] = await service.sql<{ deadlocks: number }>(
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(row).toEqual({ deadlocks: 0 });
  });

  /** A merchant with money whose requests are not limited by the minute. */
  function aMerchant(settings: Record<string, string | number> = {}): Promise<Merchant> {
    return aFundedMerchant(service, { fraud_mode: 'off', ...settings });
  }

  function settled(): Promise<true> {
    return waitFor('everything to come to its end', async () => {
      return (await openPayouts(service)) === 0 && (await openRefunds(service)) === 0;
    });
  }

  const codeOf = ({ status, body }: Answer<PayoutOrError>): string =>
    status < 300 ? String(status) : `${String(status)} ${body.error.code}`;
  const counted = (answers: readonly Answer<PayoutOrError>[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const answer of answers) counts[codeOf(answer)] = (counts[codeOf(answer)] ?? 0) + 1;
    return counts;
  };
  const cancel = (merchant: Merchant, id: string): Promise<Answer<PayoutOrError>> =>
    service.call<PayoutOrError>('POST', `/v1/payouts/${id}/cancel`, { key: merchant.testKey });

  /** Makes KINDS payouts, refunds, disputes and payments, all at the same time. @returns accepted payouts */
  async function round(merchant: Merchant, expected: Expected): Promise<number> {
    const key = merchant.testKey;
    const sales = await times(3 * KINDS, () => service.createCharge(key, { amount: SALE }));
    const [toRefund, toDispute, toPay] = [0, 1, 2].map((part) =>
      sales.slice(part * KINDS, (part + 1) * KINDS).map(({ body }) => body),
    ) as [ChargeAnswer[], ChargeAnswer[], ChargeAnswer[]];
    for (const charge of [...toRefund, ...toDispute]) await happens(service, key, charge.id, { event: 'pay' });
    const before = (await wallet(service, merchant.accountId))['available'] ?? 0;
    // About half of the payouts find the money.
    const amount = Math.floor((before + KINDS * SALE) / KINDS);
    const [payouts, refunds] = await Promise.all([
      times(KINDS, () => requestPayout(service, key, { amount, allow_duplicate: true })),
      times(KINDS, (index) => requestRefund(service, key, paymentIdOf(toRefund[index] as ChargeAnswer))),
      times(KINDS, (index) => happens(service, key, toDispute[index]?.id ?? '', { event: 'med_open' })),
      times(KINDS, (index) => happens(service, key, toPay[index]?.id ?? '', { event: 'pay' })),
    ]);
    const accepted = payouts.filter(({ status }) => status === 201).length;
    const refused = payouts.filter((answer) => codeOf(answer) === '422 insufficient_balance').length;
    expect(Object.keys(counted(payouts)).filter((code) => !/^(201|422 insufficient_balance)$/.test(code))).toEqual([]);
    expect(accepted + refused).toBe(KINDS);
    const refundsMade = refunds.filter(({ status }) => status === 201).length;
    const refundsRefused = refunds.filter(
      ({ status, body }) => status === 422 && body.error.code === 'insufficient_balance',
    );
    expect(refundsMade + refundsRefused.length).toBe(KINDS);
    const [held] = await service.sql<{ held: number }>(
      `SELECT coalesce(sum(held_amount), 0)::int AS held FROM med_cases WHERE transaction_id = ANY ($1::uuid[])`,
      [toDispute.map(paymentIdOf)],
    );
    expected.available += 3 * KINDS * SALE - accepted * (amount + FEE) - refundsMade * SALE - (held?.held ?? 0);
    expected.retained += held?.held ?? 0;
    const { available, retained } = await wallet(service, merchant.accountId);
    expect({ available, retained }).toEqual(expected);
    return accepted;
  }

  it('64 payouts, refunds, disputes and payments at once: no payout takes more than there is, and sums are exact', async () => {
    const merchant = await aMerchant({ amount: 2_000, payout_fee: FEE });
    const expected = { available: 2_000, retained: 0 };
    let accepted = 0;
    for (let each = 0; each < ROUNDS; each++) accepted += await round(merchant, expected);
    expect(accepted).toBeGreaterThan(0);
    await settled();
    const buckets = await wallet(service, merchant.accountId);
    expect(buckets).toMatchObject({ ...expected, reserved: 0, platform_fees: accepted * FEE });
    const lines = await service.sql<{ least: number; count: number }>(
      `SELECT min(l.balance_after)::int AS least, count(*)::int AS count
       FROM journal_lines l JOIN journal_entries e ON e.id = l.entry_id
       WHERE l.account_id = $1 AND l.bucket = 'available' AND e.cause LIKE 'payout.reserved:%'`,
      [merchant.accountId],
    );
    expect(lines[0]?.count).toBe(accepted);
    expect(lines[0]?.least).toBeGreaterThanOrEqual(0);
  });

  it('64 requests of one amount to one receiver under 64 keys: exactly one is accepted', async () => {
    const merchant = await aMerchant();
    const answers = await times(64, () => requestPayout(service, merchant.testKey, { amount: 100 }));
    expect(counted(answers)).toEqual({ 201: 1, '409 likely_duplicate': 63 });
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 9_900 });
  });

  it('64 requests that together are above the limit of the day stay within it', async () => {
    const merchant = await aMerchant({ payout_daily_max: 1_000 });
    const answers = await times(64, () =>
      requestPayout(service, merchant.testKey, { amount: 150, allow_duplicate: true }),
    );
    expect(counted(answers)).toEqual({ 201: 6, '422 payout_limit_exceeded': 58 });
  });

  it('a cancellation and the worker: the payout is sent or cancelled, never both', async () => {
    const merchant = await aMerchant({ payout_fee: FEE });
    const outcomes = await times(40, async (index) => {
      const { id } = await aPayout(service, merchant.testKey, { amount: 100 + index });
      // Later ones meet the worker.
      await new Promise((resolve) => setTimeout(resolve, index * 2));
      const answer = await cancel(merchant, id);
      return { id, code: codeOf(answer) };
    });
    await settled();
    let available = 10_000;
    for (const [index, { id, code }] of outcomes.entries()) {
      const { status } = await readPayout(service, merchant.testKey, id);
      const sent = await service.sql('SELECT 1 FROM sandbox_payouts WHERE send_id = $1', [bare(id)]);
      const isCancelled = code === '200';
      expect([code, status, sent.length]).toEqual(
        isCancelled ? ['200', 'cancelled', 0] : ['409 payout_not_cancellable', 'paid', 1],
      );
      if (!isCancelled) available -= 100 + index + FEE;
    }
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available, reserved: 0 });
  });

  describe('decisions of two people', () => {
    const decide = (person: Person, id: string, what: 'approve' | 'refuse'): Promise<Answer<PayoutOrError>> =>
      service.call<PayoutOrError>('POST', `/v1/dashboard/test/payouts/${id}/${what}`, {
        token: person.token,
        body: {},
      });

    it('at once are one: two approvals, an approval and a refusal, an approval and a cancellation', async () => {
      const merchant = await aMerchant({ payout_approval_above: 0 });
      const [first, second] = [
        await service.member(merchant.accountId, 'OWNER'),
        await service.member(merchant.accountId, 'ADMIN'),
      ];
      let available = 10_000;
      for (let each = 0; each < 12; each++) {
        const amount = 100 + each;
        const { id } = await aPayout(service, merchant.testKey, { amount });
        const other = [
          () => decide(second, id, 'approve'),
          () => decide(second, id, 'refuse'),
          () => cancel(merchant, id),
        ][each % 3] as () => Promise<Answer<PayoutOrError>>;
        const [approval, against] = await Promise.all([decide(first, id, 'approve'), other()]);
        await settled();
        const { status } = await readPayout(service, merchant.testKey, id);
        const moves = await service.sql<{ type: string }>(
          `SELECT type FROM audit_events WHERE data ->> 'payout_id' = $1
             AND type IN ('payout.approved', 'payout.disapproved')`,
          [id.slice(3)],
        );
        const isApproved = approval?.status === 200;
        expect([each % 3, status]).toEqual([each % 3, isPaidAfter(each % 3, against) ? 'paid' : 'cancelled']);
        if (each % 3 === 0) expect(isApproved).toBe(true);
        expect(moves.length).toBeLessThanOrEqual(1 + (each % 3 === 2 ? 1 : 0));
        if (status === 'paid') available -= amount;
        expect(await wallet(service, merchant.accountId)).toMatchObject({ available, reserved: 0 });
      }
    });

    /** A refusal or cancellation that was accepted ends the payout. */
    function isPaidAfter(kind: number, against: Answer<PayoutOrError> | undefined): boolean {
      return kind === 0 || against?.status !== 200;
    }
  });

  it('returns in parts that are reported at once are each booked once', async () => {
    const merchant = await aMerchant({ payout_fee: FEE });
    const { id } = await aPayout(service, merchant.testKey, {
      amount: 800,
      destination: { type: 'pix_key', key: OTHER_CPF },
    });
    await settled();
    await times(8, () => simulatePayout(service, merchant.testKey, id, { event: 'return', amount: 100 }));
    await waitFor('all of it to be back', async () => {
      return (await readPayout(service, merchant.testKey, id)).status === 'refunded';
    });
    const { amount_returned: returned, returns } = await readPayout(service, merchant.testKey, id);
    expect([returned, returns?.length]).toEqual([800, 8]);
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 10_000, platform_fees: 0 });
  });

  it('payments beside a payout of everything leave exactly the payments', async () => {
    const merchant = await aMerchant({ amount: 5_000 });
    const body = { amount: 5_000, destination: { type: 'pix_key', key: CPF } };
    const [payout] = await Promise.all([
      requestPayout(service, merchant.testKey, body),
      times(10, () => aPaidCharge(service, merchant.testKey, SALE)),
    ]);
    expect(payout.status).toBe(201);
    await settled();
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 10 * SALE, reserved: 0 });
  });
});

/** The name of a payout at its bank. */
function bare(id: string): string {
  return id.slice(3).replaceAll('-', '');
}
