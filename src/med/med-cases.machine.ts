import { DISPUTE_TYPES, type DisputeType } from '../acquirers/index.js';

/** Source: docs/contract.md#case-status. */
export const MED_CASE_STATUSES = ['open', 'appealed', 'accepted', 'rejected', 'closed'] as const;
export type MedCaseStatus = (typeof MED_CASE_STATUSES)[number];

export const MED_CASE_TYPES = DISPUTE_TYPES;
export type MedCaseType = DisputeType;

/** Where the money of a case has gone for good. */
export const MONEY_OUTCOMES = ['refunded_to_merchant', 'closed_without_refund', 'lost'] as const;
export type MoneyOutcome = (typeof MONEY_OUTCOMES)[number];

/** What can happen to a case. */
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
  /** Null while it is not over. */
  readonly outcome: MoneyOutcome | null;
}

/**
 * The legal moves. A case without an answer is not `rejected`: the contract keeps that word for appeals. One that the
 * merchant does not see yet is also closed when an operator dismisses it, and open again when an operator admits it (both
 * `MedDesk`), or when the bank changes its amount or means another payment by now
 * (`MedDisputesService`).
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

/** Whether its money still waits for a ruling. */
export function isUnderway(status: MedCaseStatus): boolean {
  return status === 'open' || status === 'appealed';
}
