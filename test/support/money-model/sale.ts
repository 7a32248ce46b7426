/** The model's state of a sale, and the amounts that can still be taken from it. Amounts are in cents. */

export type DisputeKind = 'med' | 'chargeback' | 'dispute' | 'fraud';
export type Way = 'cashout' | 'devolution' | 'card';

/** Reason why an operator has to look at a case, as in docs/contract.md */
export type Review = 'amount_mismatch' | 'not_disputable' | 'ruling_dismissed' | 'contradiction';

/** Moment at which a refund's call is lost: before it reaches the bank, or after, with the bank's answer */
export type Lost = 'before' | 'after';

export interface RefundModel {
  readonly amount: number;
  readonly fee: number;
  readonly way: Way;
  readonly madeAt: number;
  /** Whether the bank will refuse the refund; set when a call reaches the bank */
  fails: boolean;
  /** Whether a call of the refund has reached the bank. */
  isAtBank: boolean;
  /** Time of the first call in milliseconds; 0 before that */
  sentAt: number;
  /** Number of the worker's questions to the bank about the refund */
  questions: number;
  status: 'PENDING' | 'IN_PROGRESS' | 'REFUNDED' | 'FAILED';
  reason: 'refused' | 'charge_disputed' | 'amount_exceeded' | null;
}

export interface CaseModel {
  readonly kind: DisputeKind;
  /** Amount that the bank claims now */
  reported: number;
  amount: number;
  /** The bank's ruling; null while there is none. */
  ruling: 'won' | 'lost' | null;
  status: 'open' | 'appealed' | 'accepted' | 'rejected' | 'closed';
  isVisible: boolean;
  /** Null: no operator has to look. */
  review: Review | null;
  outcome: 'lost' | 'refunded_to_merchant' | 'closed_without_refund' | null;
  held: number;
  lost: number;
  /** Amount in the last event about the end of the case; null before its end */
  told: number | null;
  overAt: number;
}

/** An operator's entry of money that the bank took from a sale; a negative amount was given back. */
export interface CorrectionModel {
  readonly kind: 'loss' | 'bank_fee';
  readonly borneBy: 'merchant' | 'platform';
  readonly amount: number;
  /** The refund under whose id at the bank the operator entered it; null: no id given */
  readonly named: RefundModel | null;
  status: 'waiting' | 'applied' | 'rejected';
  appliedAt: number;
}

export interface SaleModel {
  readonly method: 'PIX' | 'CREDIT_CARD';
  readonly amount: number;
  readonly isLocked: boolean;
  status: string;
  /** Number of payments that arrived, whether credited or not */
  payments: number;
  /** Reasons of the payments that went back */
  readonly backs: string[];
  isHeldForReview: boolean;
  isPaid: boolean;
  payerIsKnown: boolean;
  /** Days until the paid money is released */
  pendingDays: number;
  /** Days until the reserve is released */
  reservedDays: number;
  readonly refunds: RefundModel[];
  readonly cases: CaseModel[];
  readonly corrections: CorrectionModel[];
  /** Status before the cancellation */
  before: string | null;
}

export const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);

export const isUnderway = ({ isVisible, status }: CaseModel): boolean =>
  isVisible && ['open', 'appealed'].includes(status);

export function isOver({ status }: CaseModel): boolean {
  return !['open', 'appealed'].includes(status);
}

export function isDisputed({ status }: SaleModel): boolean {
  return ['DISPUTE', 'CHARGEBACK'].includes(status);
}

export function standing({ refunds }: SaleModel): RefundModel[] {
  return refunds.filter(({ status }) => status !== 'FAILED');
}

export function isOnItsWay({ status }: RefundModel): boolean {
  return status === 'PENDING' || status === 'IN_PROGRESS';
}

export function isRefunding({ refunds }: SaleModel): boolean {
  return refunds.some(isOnItsWay);
}

export function refunded(sale: SaleModel): number {
  return sum(standing(sale).map(({ amount }) => amount));
}

/** Total of refunds that send the payment itself back. A cashout is a new Pix and does not count. */
export function devolved(sale: SaleModel): number {
  return sum(
    standing(sale)
      .filter(({ way }) => way !== 'cashout')
      .map(({ amount }) => amount),
  );
}

export function takenByCases({ cases }: SaleModel): number {
  return sum(cases.map(({ held, lost }) => held + lost));
}

export function applied({ corrections }: SaleModel): CorrectionModel[] {
  return corrections.filter(({ status }) => status === 'applied');
}

/** Total of the sale's applied losses, borne by merchant or platform */
export function losses(sale: SaleModel): number {
  return sum(
    applied(sale)
      .filter(({ kind }) => kind === 'loss')
      .map(({ amount }) => amount),
  );
}

/** Amount that a refund or a loss may still take */
export function left(sale: SaleModel): number {
  return sale.amount - refunded(sale) - takenByCases(sale) - losses(sale);
}

/** Amount that the payer's bank can still take, and that a case can hold */
export function room(sale: SaleModel): number {
  return sale.isPaid ? sale.amount - devolved(sale) - takenByCases(sale) - losses(sale) : 0;
}

/**
 * Largest amount that the bank can have taken for the case: the rest after devolutions, losses and other cases, at most
 * the bank's claim.
 */
export function takeable(sale: SaleModel, medCase: CaseModel): number {
  const others = sale.cases.filter((other) => other !== medCase);
  const there = sale.amount - devolved(sale) - losses(sale) - sum(others.map(({ lost }) => lost));
  return Math.min(medCase.reported, there);
}

/** Whether cases have taken the last of the money: nothing is left, and no refund or loss came after the last case. */
export function isLost(sale: SaleModel): boolean {
  const ends = sale.cases.filter(({ lost }) => lost > 0).map(({ overAt }) => overAt);
  const entered = applied(sale).filter(({ kind, amount }) => kind === 'loss' && amount > 0);
  const lastTaken = Math.max(
    0,
    ...sale.refunds.map(({ madeAt }) => madeAt),
    ...entered.map(({ appliedAt }) => appliedAt),
  );
  return room(sale) === 0 && ends.some((at) => at > lastTaken);
}

/** Whether an ended case has another outcome or another lost amount than the bank's ruling. */
export function isContradicted(sale: SaleModel, medCase: CaseModel): boolean {
  if (!isOver(medCase) || medCase.ruling === null) return false;
  const wasWon = !medCase.isVisible || medCase.outcome === 'refunded_to_merchant';
  if ((medCase.ruling === 'won') !== wasWon) return true;
  return !wasWon && medCase.lost !== takeable(sale, medCase);
}
