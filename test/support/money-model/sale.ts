/** A sale as the model sees it, and what can be taken of it. Amounts are cents. */

export type DisputeKind = 'med' | 'chargeback' | 'dispute' | 'fraud';
export type Way = 'cashout' | 'devolution' | 'card';

/** Why an operator has to look at a case, as docs/contract.md names it. */
export type Review = 'amount_mismatch' | 'not_disputable' | 'ruling_dismissed' | 'contradiction';

/** The moment at which the call of a refund is lost: before the bank has it, or with the bank's answer. */
export type Lost = 'before' | 'after';

export interface RefundModel {
  readonly amount: number;
  readonly fee: number;
  readonly way: Way;
  readonly madeAt: number;
  /** Whether the bank will refuse it; known when the bank has it. */
  fails: boolean;
  /** Whether a call for it has reached the bank. */
  isAtBank: boolean;
  /** Time of its first call in milliseconds; 0 before that. */
  sentAt: number;
  /** How often the worker has asked the bank about it. */
  questions: number;
  status: 'PENDING' | 'IN_PROGRESS' | 'REFUNDED' | 'FAILED';
  reason: 'refused' | 'charge_disputed' | 'amount_exceeded' | null;
}

export interface CaseModel {
  readonly kind: DisputeKind;
  /** The bank's present claim. */
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
  /** The amount that its last event of an end tells. */
  told: number | null;
  overAt: number;
}

/** An operator's entry of money that a bank has taken of a sale; below zero: money given back. */
export interface CorrectionModel {
  readonly kind: 'loss' | 'bank_fee';
  readonly borneBy: 'merchant' | 'platform';
  readonly amount: number;
  /** The refund of the sale whose id at the bank it bears. */
  readonly named: RefundModel | null;
  status: 'waiting' | 'applied' | 'rejected';
  appliedAt: number;
}

export interface SaleModel {
  readonly method: 'PIX' | 'CREDIT_CARD';
  readonly amount: number;
  readonly isLocked: boolean;
  status: string;
  /** Payments that have come, whatever became of them. */
  payments: number;
  /** Why some of them went back. */
  readonly backs: string[];
  isHeldForReview: boolean;
  isPaid: boolean;
  payerIsKnown: boolean;
  /** Days until the paid money is released */
  pendingDays: number;
  /** Days that its reserve is still pending. */
  reservedDays: number;
  readonly refunds: RefundModel[];
  readonly cases: CaseModel[];
  readonly corrections: CorrectionModel[];
  /** Status before it was cancelled. */
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

export function isRefunding({ refunds }: SaleModel): boolean {
  return refunds.some(({ status }) => status === 'PENDING' || status === 'IN_PROGRESS');
}

export function refunded(sale: SaleModel): number {
  return sum(standing(sale).map(({ amount }) => amount));
}

/** Refunds that take the payment itself back: a cashout is another Pix. */
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

/** Total that operators have entered as lost of the sale, whoever pays it. */
export function losses(sale: SaleModel): number {
  return sum(
    applied(sale)
      .filter(({ kind }) => kind === 'loss')
      .map(({ amount }) => amount),
  );
}

/** The amount that a refund or a loss may still take */
export function left(sale: SaleModel): number {
  return sale.amount - refunded(sale) - takenByCases(sale) - losses(sale);
}

/** The amount that the payer's bank can still take, and a case hold */
export function room(sale: SaleModel): number {
  return sale.isPaid ? sale.amount - devolved(sale) - takenByCases(sale) - losses(sale) : 0;
}

/**
 * The most the bank can have taken for the case: the rest after devolutions, losses and other cases, up to its claim.
 */
export function takeable(sale: SaleModel, medCase: CaseModel): number {
  const others = sale.cases.filter((other) => other !== medCase);
  const there = sale.amount - devolved(sale) - losses(sale) - sum(others.map(({ lost }) => lost));
  return Math.min(medCase.reported, there);
}

/** Whether cases have taken all that was left, and nothing of the merchant's took the rest after the last case. */
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

/** Whether the bank has ruled otherwise than a case that is over has ended, or about another amount. */
export function isContradicted(sale: SaleModel, medCase: CaseModel): boolean {
  if (!isOver(medCase) || medCase.ruling === null) return false;
  const wasWon = !medCase.isVisible || medCase.outcome === 'refunded_to_merchant';
  if ((medCase.ruling === 'won') !== wasWon) return true;
  return !wasWon && medCase.lost !== takeable(sale, medCase);
}
