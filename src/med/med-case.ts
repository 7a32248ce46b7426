import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { MedCaseStatus, MedCaseType, MoneyOutcome } from './med-cases.machine.js';

/**
 * Why an operator has to look at a case. `amount_mismatch` and `not_disputable` (the charge has no money of the
 * merchant's any more) keep a new one from the merchant; `amount_mismatch` of one that the merchant sees: the bank has
 * changed the amount, and no ruling is applied before it is looked at; `ruling` waits for an approval; `contradiction`:
 * the bank rules otherwise, or about another amount, than the case has ended, or takes the money of one that was
 * dismissed before the merchant saw it.
 */
export type MedReview = 'amount_mismatch' | 'not_disputable' | 'ruling' | 'contradiction';

/** A dispute of one transaction. Amounts in the smallest unit. */
export interface MedCase {
  readonly id: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly transactionId: string;
  readonly acquirer: string;
  /** The bank's own id of the dispute. */
  readonly reference: string;
  /** Of the payment that is disputed: of a Pix its end-to-end id. */
  readonly paymentReference: string;
  readonly type: MedCaseType;
  readonly status: MedCaseStatus;
  readonly moneyOutcome: MoneyOutcome | null;
  /** Whether the merchant sees it. */
  readonly visible: boolean;
  readonly review: MedReview | null;
  readonly reviewedAt: Date | null;
  readonly reviewedBy: string | null;
  /** What is disputed: as reported, or as an operator set it right. */
  readonly amount: Amount;
  readonly reportedAmount: Amount;
  /** What of it is retained now. */
  readonly heldAmount: Amount;
  /** What of it is gone for good. */
  readonly lostAmount: Amount;
  readonly currency: string;
  readonly reason: string | null;
  readonly responseDeadline: Date | null;
  /** When its approach is told next; null when it is not any more. */
  readonly deadlineDueAt: Date | null;
  readonly evidenceRequestedAt: Date | null;
  readonly appealReason: string | null;
  readonly appealedAt: Date | null;
  readonly evidenceCount: number;
  readonly openedAt: Date;
  readonly closedAt: Date | null;
  readonly bank: BankSide;
  /** When the merchant could first see it; of one under review when it came. */
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What the bank last said. Times are the bank's but for `appliedAt`, which is when we understood it. */
export interface BankSide {
  readonly status: 'created' | 'delivered' | 'closed' | 'canceled';
  readonly result: 'agreed' | 'disagreed' | null;
  readonly method: string | null;
  /** Who opened it, sealed by `MedPayers` for the transaction; null where the bank does not say. */
  readonly payerSealed: Buffer | null;
  readonly updatedAt: Date;
  readonly closedAt: Date | null;
  readonly appliedAt: Date;
}
