import type { Dispute } from '../../acquirers/index.js';
import type { Amount } from '../../core/money/index.js';
import { contradictionReviewOf, open, rule } from './dispute.rules.js';
import type { DisputedTransaction } from './disputed-transaction.js';
import { type BankSide, type MedCase, type MedReview, UNTOUCHED } from './med-case.js';
import { isNews, nextNotice } from './med-case.rules.js';
import { isUnderway } from './med-cases.machine.js';

/** The present state of a dispute, as its acquirer reports it. */
export interface BankReport {
  readonly acquirer: string;
  readonly dispute: Dispute;
  readonly bank: BankSide;
  /** The reference under which the disputed payment was settled. */
  readonly paymentReference: string;
  /** Id of the case, if it is a new one. */
  readonly newId: string;
}

/** Brings the case of a dispute to the reported state. A report that is not news adds no step. */
export function applyReport(disputed: DisputedTransaction, report: BankReport): DisputedTransaction {
  const { acquirer, dispute } = report;
  const known = disputed.cases.find((one) => one.acquirer === acquirer && one.reference === dispute.reference);
  if (!known) return begin(disputed, report);
  if (!isNews(known, dispute)) return disputed;
  if (!known.visible) return goOnHidden(disputed, known, report);
  return isUnderway(known.status) ? goOn(disputed, known, report) : doubtEnd(disputed, known, report);
}

function begin(disputed: DisputedTransaction, report: BankReport): DisputedTransaction {
  const { acquirer, bank, paymentReference, newId: id } = report;
  const { reference, type, amount, reason, responseDeadline, openedAt } = report.dispute;
  const { now, transaction } = disputed;
  const review = reviewOf(disputed, { id, paymentReference, amount });
  const medCase: MedCase = {
    ...UNTOUCHED,
    id,
    accountId: transaction.accountId,
    mode: transaction.mode,
    transactionId: transaction.id,
    acquirer,
    reference,
    paymentReference,
    type,
    status: 'open',
    visible: review === null,
    review,
    amount,
    reportedAmount: amount,
    heldAmount: 0,
    lostAmount: 0,
    currency: transaction.currency,
    reason,
    responseDeadline,
    evidenceCount: 0,
    openedAt,
    bank,
    createdAt: now,
    updatedAt: now,
  };
  const begun = disputed.begin(medCase).showCases();
  return review === null ? rule(open(begun, medCase), id, false) : begun;
}

/** Changes a visible open case. */
function goOn(disputed: DisputedTransaction, known: MedCase, { dispute, bank }: BankReport): DisputedTransaction {
  const { now } = disputed;
  const { reason, responseDeadline, amount: reportedAmount } = dispute;
  const isMoved = responseDeadline?.getTime() !== known.responseDeadline?.getTime();
  const deadlineDueAt = isMoved && known.status === 'open' ? nextNotice(responseDeadline, now) : known.deadlineDueAt;
  const review = reviewOfChange(known, reportedAmount);
  const changed = { bank, reason, responseDeadline, deadlineDueAt, reportedAmount, review, updatedAt: now };
  return rule(disputed.change({ ...known, ...changed }).showCases(), known.id, false);
}

/** Keeps what the bank reports of a case that is over. A contradiction waits for an operator. */
function doubtEnd(disputed: DisputedTransaction, known: MedCase, { dispute, bank }: BankReport): DisputedTransaction {
  const current = { ...known, bank, reportedAmount: dispute.amount };
  return disputed.change({ ...current, review: contradictionReviewOf(disputed, current) }).showCases();
}

/**
 * Reviews a hidden or dismissed case again when the bank changes its amount, or when another payment has been credited
 * since the returned one. A bank that names only the charge means that other payment.
 * A dismissed case waits for an operator again once the bank has taken the money, until the bank gives it back.
 */
function goOnHidden(disputed: DisputedTransaction, known: MedCase, report: BankReport): DisputedTransaction {
  const { bank, paymentReference } = report;
  const { amount, reason, responseDeadline } = report.dispute;
  const current = { ...known, bank, reason, responseDeadline };
  if (amount === known.reportedAmount && paymentReference === known.paymentReference) {
    const review = isUnderway(known.status) ? known.review : contradictionReviewOf(disputed, current);
    return disputed.change({ ...current, review }).showCases();
  }
  const claimed = { ...current, paymentReference, amount, reportedAmount: amount };
  const review = reviewOf(disputed, claimed);
  const isVisible = review === null;
  const anew: MedCase = {
    ...claimed,
    status: 'open',
    closedAt: null,
    review,
    visible: isVisible,
    updatedAt: disputed.now,
  };
  const changed = disputed.change(anew).showCases();
  return isVisible ? rule(open(changed, anew), known.id, false) : changed;
}

/**
 * Returns why an operator must review a new case before the merchant sees it. A payment that was not credited has no
 * amount to compare.
 */
function reviewOf(
  disputed: DisputedTransaction,
  { amount, ...medCase }: Pick<MedCase, 'id' | 'paymentReference' | 'amount'>,
): MedReview | null {
  if (!disputed.isCredited(medCase)) return 'not_disputable';
  if (amount !== disputed.transaction.amount) return 'amount_mismatch';
  return disputed.isDisputable(medCase) ? null : 'not_disputable';
}

/** Returns why an operator must review a visible case after the bank changed it; `rule` handles rulings. */
function reviewOfChange(known: MedCase, reportedAmount: Amount): MedReview | null {
  if (reportedAmount !== known.reportedAmount) return reportedAmount === known.amount ? null : 'amount_mismatch';
  return known.review === 'ruling' || known.review === 'ruling_dismissed' ? null : known.review;
}
