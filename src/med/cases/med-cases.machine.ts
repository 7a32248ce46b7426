import { DISPUTE_TYPES, type DisputeType } from '../../acquirers/index.js';

/** Source: docs/contract.md#case-status. */
export const MED_CASE_STATUSES = ['open', 'appealed', 'accepted', 'rejected', 'closed'] as const;
export type MedCaseStatus = (typeof MED_CASE_STATUSES)[number];

export const MED_CASE_TYPES = DISPUTE_TYPES;
export type MedCaseType = DisputeType;

/** The final destination of a case's money. */
export const MONEY_OUTCOMES = ['refunded_to_merchant', 'closed_without_refund', 'lost'] as const;
export type MoneyOutcome = (typeof MONEY_OUTCOMES)[number];

/** Events that move a case. */
export type MedTrigger =
  /** The merchant contests it. */
  | 'appealed'
  /** The merchant gives the money up. */
  | 'accepted'
  /** Ruled in the merchant's favour, or the payer has withdrawn. */
  | 'won'
  /** Ruled for the payer before the merchant answered. */
  | 'lost_unanswered'
  /** Ruled for the payer in spite of the appeal. */
  | 'lost_on_appeal'
  /** It was over, and then the bank has given back what was lost. */
  | 'won_after_all'
  /** It was over, and then the bank has taken what was released. */
  | 'lost_after_all';

export interface MedMove {
  readonly from: readonly MedCaseStatus[];
  readonly to: MedCaseStatus;
  /** Null while the case is open or appealed. */
  readonly outcome: MoneyOutcome | null;
}

/**
 * The legal moves. A case without an answer is not `rejected`: the contract keeps that word for appeals.
 * Hidden cases have further moves. An operator closes one by dismissing it and reopens it by admitting it (both
 * `MedDesk`). `applyReport` reopens it when the bank changes its amount or its payment.
 */
export const MED_MOVES: Readonly<Record<MedTrigger, MedMove>> = {
  appealed: { from: ['open'], to: 'appealed', outcome: null },
  accepted: { from: ['open'], to: 'accepted', outcome: 'lost' },
  won: { from: ['open', 'appealed'], to: 'closed', outcome: 'refunded_to_merchant' },
  lost_unanswered: { from: ['open'], to: 'closed', outcome: 'closed_without_refund' },
  lost_on_appeal: { from: ['appealed'], to: 'rejected', outcome: 'lost' },
  won_after_all: { from: ['accepted', 'rejected', 'closed'], to: 'closed', outcome: 'refunded_to_merchant' },
  lost_after_all: { from: ['closed'], to: 'closed', outcome: 'closed_without_refund' },
};

/** Returns whether the case's money still waits for a ruling. */
export function isUnderway(status: MedCaseStatus): boolean {
  return status === 'open' || status === 'appealed';
}
