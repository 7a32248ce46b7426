import { createHash } from 'node:crypto';
import type { Dispute } from '../../acquirers/index.js';
import { HOUR_MS } from '../../core/clock.js';
import type { Amount } from '../../core/money/index.js';
import type { MedBlock, Transaction } from '../../transactions/index.js';
import type { BankSide, MedCase } from './med-case.js';
import { isUnderway, type MedCaseStatus, type MedTrigger } from './med-cases.machine.js';

/** Source: docs/contract.md#deadline-notices. */
const NOTICE_HOURS = [48, 24, 6];

/** Orders the states of a dispute, for two reports of the same time. */
const PROGRESS: Readonly<Record<BankSide['status'], number>> = { created: 0, delivered: 1, closed: 2, canceled: 2 };

export function bankSideOf(dispute: Dispute, payerSealed: Buffer | null, appliedAt: Date): BankSide {
  const { status, result, method, updatedAt, closedAt } = dispute;
  return { status, result, method, payerSealed, updatedAt, closedAt, appliedAt };
}

/**
 * Returns whether the bank's report is later than the last applied one. Some banks give times in whole seconds; others
 * repeat the time of the opening until the end, whatever they change.
 */
export function isNews(
  { bank, reportedAmount }: Pick<MedCase, 'bank' | 'reportedAmount'>,
  dispute: Pick<Dispute, 'status' | 'result' | 'amount' | 'updatedAt'>,
): boolean {
  const later = dispute.updatedAt.getTime() - bank.updatedAt.getTime();
  if (later !== 0) return later > 0;
  const further = PROGRESS[dispute.status] - PROGRESS[bank.status];
  if (further !== 0) return further > 0;
  if (dispute.result !== bank.result) return dispute.result !== null;
  return dispute.amount !== reportedAmount;
}

/** Returns the effect of the bank's ruling on a case in `status`; null while there is no ruling. */
export function rulingOf(bank: Pick<BankSide, 'status' | 'result'>, status: MedCaseStatus): MedTrigger | null {
  if (bank.status === 'canceled') return 'won';
  // Closed without a result: a later notification brings the result, which is never guessed.
  if (bank.status !== 'closed' || bank.result === null) return null;
  if (bank.result === 'disagreed') return 'won';
  return status === 'appealed' ? 'lost_on_appeal' : 'lost_unanswered';
}

/** Returns the bank's claim on a payment, at most the amount that is there. */
export function claimOf({ reportedAmount }: Pick<MedCase, 'reportedAmount'>, there: Amount): Amount {
  return Math.min(reportedAmount, there);
}

/**
 * How the bank contradicts a closed case. `lost_another_amount`: both say that it is lost, but with different amounts.
 */
export type Contradiction = Extract<MedTrigger, 'won_after_all' | 'lost_after_all'> | 'lost_another_amount';

/**
 * Returns how the bank's ruling differs from the end of the case; the money waits for an operator's decision. Null for
 * an open case, or when the bank agrees. A case that was dismissed while hidden has left the money with the merchant.
 * @param takeable how much of the payment the bank can take: `DisputedTransaction.takeableBy`
 */
export function contradictionOf(
  medCase: Pick<MedCase, 'visible' | 'status' | 'moneyOutcome' | 'lostAmount' | 'reportedAmount' | 'bank'>,
  takeable: Amount,
): Contradiction | null {
  const { visible, status, moneyOutcome, lostAmount, bank } = medCase;
  const ruling = rulingOf(bank, status);
  if (isUnderway(status) || ruling === null) return null;
  const isWon = ruling === 'won';
  const wasWon = !visible || moneyOutcome === 'refunded_to_merchant';
  if (isWon !== wasWon) return isWon ? 'won_after_all' : 'lost_after_all';
  return isWon || lostAmount === claimOf(medCase, takeable) ? null : 'lost_another_amount';
}

/**
 * Identifies the facts that an operator decides on. The version changes when the bank or the merchant reports anything
 * new.
 */
export function versionOf({ review, status, reportedAmount, bank }: MedCase): string {
  const seen = [review, status, reportedAmount, bank.status, bank.result, bank.updatedAt.toISOString()];
  return createHash('sha256').update(JSON.stringify(seen)).digest('hex').slice(0, 16);
}

/** Returns the time of the next notice of a deadline; null when all have passed. */
export function nextNotice(deadline: Date | null, now: Date): Date | null {
  if (deadline === null) return null;
  const times = NOTICE_HOURS.map((hours) => deadline.getTime() - hours * HOUR_MS);
  const next = times.find((time) => time > now.getTime());
  return next === undefined ? null : new Date(next);
}

/**
 * Builds `metadata.med` from the case with the latest report; null for other methods than Pix, or without a case to
 * show.
 */
export function medBlockOf(transaction: Transaction, cases: readonly MedCase[]): MedBlock | null {
  const shown = cases
    .filter(({ visible, review }) => visible || review === 'amount_mismatch')
    .sort((a, b) => b.bank.appliedAt.getTime() - a.bank.appliedAt.getTime());
  const [last] = shown;
  if (last === undefined || transaction.paidWith !== 'PIX') return null;
  const { bank, reason } = last;
  return {
    referenceId: last.paymentReference,
    status: bank.status,
    ...(bank.result === null ? {} : { result: bank.result }),
    ...(bank.method === null ? {} : { method: bank.method }),
    ...(reason === null ? {} : { reason }),
    ...(bank.payerSealed === null ? {} : { payerSealed: bank.payerSealed.toString('base64') }),
    openedAt: last.openedAt.toISOString(),
    updatedAt: bank.updatedAt.toISOString(),
    ...(bank.closedAt === null ? {} : { closedAt: bank.closedAt.toISOString() }),
    lastEventAt: bank.appliedAt.toISOString(),
    amountMismatch: last.review === 'amount_mismatch',
  };
}
