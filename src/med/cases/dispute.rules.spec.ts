import { describe, expect, it } from '@jest/globals';
import { aMedCase } from '../../../test/support/a-med-case.js';
import { aPaidTransaction } from '../../../test/support/a-transaction.js';
import type { Account } from '../../accounts/index.js';
import type { Dispute } from '../../acquirers/index.js';
import type { TransactionStatus } from '../../transactions/index.js';
import { applyReport, type BankReport } from './bank-report.rules.js';
import { claimFreed, correct, disputeByHolder, end, reclaim } from './dispute.rules.js';
import { DisputedTransaction } from './disputed-transaction.js';
import type { MedCase } from './med-case.js';

const NOW = new Date('2026-11-26T12:00:00.000Z');
const PAID = aPaidTransaction({ amount: 1000, paidAt: new Date('2026-11-21T12:30:00.000Z') });
const PIX = PAID.endToEndId ?? '';
const { bank } = aMedCase();

/** A sale of R$ 10,00 with these cases, which together hold or have lost `disputedAmount`. */
function sale(
  cases: MedCase[],
  disputedAmount: number,
  refundsAmount = 0,
  rulesAtOnce = true,
  status: TransactionStatus = 'DISPUTE',
): DisputedTransaction {
  const taken = { refundsAmount, cashoutsAmount: 0, disputedAmount, lossesAmount: 0 };
  const transaction = { ...PAID, status };
  const disputed = { ...taken, transaction, account: {} as Account, isRefunding: false, lastTakenAt: null };
  return new DisputedTransaction(disputed, cases, { now: NOW, rulesAtOnce });
}

const aCase = (id: string, changes: Partial<MedCase>): MedCase =>
  aMedCase({
    id,
    paymentReference: PIX,
    visible: true,
    status: 'open',
    amount: 1000,
    reportedAmount: 1000,
    ...changes,
  });

/** Returns the kinds of the steps, and the movements of money as "what amount of which case, for which cause". */
const written = ({ steps, moves }: DisputedTransaction): { steps: string[]; moves: string[] } => ({
  steps: steps.map((step) => ('medCase' in step ? `${step.kind} ${step.medCase.id}` : step.kind)),
  moves: moves.map(({ what, amount, caseId, detail }) => `${what} ${amount} of ${caseId}, ${detail}`),
});

const report = (changes: Partial<Dispute> = {}, status: 'created' | 'closed' = 'created'): BankReport => {
  const result = status === 'closed' ? ('agreed' as const) : null;
  const dispute: Dispute = {
    ...{
      reference: 'd1',
      type: 'med',
      accountId: null,
      paymentReference: PIX,
      txid: null,
      amount: 1000,
      status,
      result,
    },
    ...{ method: null, reason: null, payerName: null, payerDocument: null, responseDeadline: null },
    ...{ openedAt: NOW, updatedAt: NOW, closedAt: status === 'closed' ? NOW : null },
    ...changes,
  };
  return { acquirer: 'sandbox', dispute, bank: { ...bank, status, result }, paymentReference: PIX, newId: 'new' };
};

describe('the steps of a reported dispute', () => {
  it('open and end a case whose first report is already the ruling', () => {
    const ruled = applyReport(sale([], 0), report({}, 'closed'));
    expect(written(ruled)).toStrictEqual({
      steps: [
        ...['case_begun new', 'med_block_changed', 'case_changed new', 'transaction_disputed new', 'opened new'],
        ...['case_changed new', 'ended new'],
      ],
      moves: ['held 1000 of new, null', 'lost 1000 of new, null'],
    });
    expect(ruled.find('new')).toMatchObject({ status: 'closed', lostAmount: 1000, heldAmount: 0, closedAt: NOW });
    expect(ruled.room).toBe(0);
  });

  it('wait for an operator if another amount is disputed', () => {
    const begun = applyReport(sale([], 0), report({ amount: 999 }));
    expect(written(begun)).toStrictEqual({ steps: ['case_begun new', 'med_block_changed'], moves: [] });
    expect(begun.find('new')).toMatchObject({ visible: false, review: 'amount_mismatch', heldAmount: 0 });
  });

  it('leave a ruling to an operator if rulings need an approval', () => {
    const known = aCase('old', { acquirer: 'sandbox', reference: 'd1', heldAmount: 1000 });
    const news = report({ updatedAt: new Date(bank.updatedAt.getTime() + 1) }, 'closed');
    const waiting = applyReport(sale([known], 1000, 0, false), news);
    expect(waiting.find('old')).toMatchObject({ status: 'open', review: 'ruling', heldAmount: 1000 });
    expect(waiting.moves).toStrictEqual([]);
  });

  it('are none for a report that is older than the known one', () => {
    const known = aCase('old', { acquirer: 'sandbox', reference: 'd1' });
    const older = report({ updatedAt: new Date(bank.updatedAt.getTime() - 1) });
    expect(applyReport(sale([known], 0), older).steps).toStrictEqual([]);
  });
});

describe('the money of several cases of one sale', () => {
  const older = aCase('a', { heldAmount: 600 });
  const younger = aCase('b', { heldAmount: 400, amount: 400, reportedAmount: 400 });

  it('goes to the case that holds too little when another one is won', () => {
    const before = sale([older, younger], 1000);
    const won = end(before, younger, 'won');
    expect(written(won)).toStrictEqual({
      steps: ['case_changed b', 'case_changed a', 'ended b'],
      moves: ['released 400 of b, null', 'held 400 of a, b'],
    });
    expect(won.find('a').heldAmount).toBe(1000);
    // The value before has not changed.
    expect([before.steps, before.moves, before.find('b').status, before.room]).toStrictEqual([[], [], 'open', 0]);
  });

  it('is free again when the last case is won', () => {
    const won = end(sale([older], 600), older, 'won');
    expect(written(won)).toStrictEqual({
      steps: ['case_changed a', 'transaction_revived', 'ended a'],
      moves: ['released 600 of a, null'],
    });
  });

  it('is taken from the younger case when the bank has taken it for the older one', () => {
    const at = bank.appliedAt.toISOString();
    const ruled = { ...bank, status: 'closed', result: 'agreed' } as const;
    const over = { status: 'closed', moneyOutcome: 'refunded_to_merchant', review: 'contradiction' } as const;
    const released = aCase('a', { ...over, heldAmount: 0, closedAt: NOW, bank: ruled });
    const holding = aCase('b', { heldAmount: 1000 });
    expect(written(correct(sale([released, holding], 1000), { ...released, review: null }))).toStrictEqual({
      steps: ['case_changed b', 'case_changed a', 'transaction_disputed a', 'corrected a'],
      moves: [`released 1000 of b, a:${at}`, `corrected 1000 of a, ${at}`],
    });
  });

  it('moves by the difference when the claim changes', () => {
    const at = bank.appliedAt.toISOString();
    expect(written(reclaim(sale([older, younger], 1000), older, 500)).moves).toStrictEqual([
      `released 100 of a, ${at}`,
    ]);
  });

  it('grows by the money that a failed refund gives back, the oldest case first', () => {
    const freed = claimFreed(sale([older, aCase('b', { heldAmount: 0 })], 600, 200), 'r1');
    expect(written(freed)).toStrictEqual({
      steps: ['case_changed a', 'transaction_disputed a'],
      moves: ['held 200 of a, r1'],
    });
    expect(claimFreed(sale([], 0), 'r1').steps).toStrictEqual([]);
  });

  it('is held for a case that had found nothing, and disputes the sale, when it becomes free', () => {
    const empty = ['a', 'b'].map((id) => aCase(id, { amount: 700, heldAmount: 0 }));
    expect(written(claimFreed(sale(empty, 0, 0, true, 'PAID'), 'c1'))).toStrictEqual({
      steps: ['case_changed a', 'case_changed b', 'transaction_disputed a'],
      moves: ['held 700 of a, c1', 'held 300 of b, c1'],
    });
  });

  it('leaves a sale as it is when no open case holds any', () => {
    const paid = sale([aCase('a', { heldAmount: 0 })], 0, 1000, true, 'PAID');
    expect(claimFreed(paid, 'c1').steps).toStrictEqual([]);
    expect(disputeByHolder(paid).steps).toStrictEqual([]);
  });
});
