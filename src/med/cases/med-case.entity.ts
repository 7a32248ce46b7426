import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Personal, Sealed } from '../../core/database/index.js';
import type { Mode } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import type { MedCaseStatus, MedCaseType, MoneyOutcome } from './med-cases.machine.js';

/**
 * Why an operator has to look at a case:
 * - `amount_mismatch`, case hidden: it disputes another amount than the charge's.
 * - `amount_mismatch`, case visible: the bank has changed the amount, and no ruling is applied before the review.
 * - `not_disputable`: the charge has no money of the merchant's any more. The case stays hidden.
 * - `ruling`: the bank's ruling waits for an approval.
 * - `ruling_dismissed`: an operator did not approve the ruling.
 * - `contradiction`: the bank's ruling or amount differs from the end of the case, or the bank took the money of a case
 *   that was dismissed while hidden.
 */
export type MedReview = 'amount_mismatch' | 'not_disputable' | 'ruling' | 'ruling_dismissed' | 'contradiction';

/** The bank's last report. Times are the bank's, except `appliedAt`, the time when we understood the report. */
export class BankSide {
  @Column('text', { name: 'bank_status' }) readonly status!: 'created' | 'delivered' | 'closed' | 'canceled';
  @Column('text', { name: 'bank_result', nullable: true }) readonly result!: 'agreed' | 'disagreed' | null;
  @NotPersonal('a code of the bank')
  @Column('text', { nullable: true })
  readonly method!: string | null;
  /** The person who opened it, sealed by `MedPayers` for the transaction; null if the bank names nobody. */
  @Personal()
  @Sealed(`'med_payer:' || transaction_id`)
  @Column('bytea', { name: 'payer_sealed', nullable: true })
  readonly payerSealed!: Buffer | null;
  @Column('timestamptz', { name: 'bank_updated_at' }) readonly updatedAt!: Date;
  @Column('timestamptz', { name: 'bank_closed_at', nullable: true }) readonly closedAt!: Date | null;
  @Column('timestamptz', { name: 'applied_at' }) readonly appliedAt!: Date;
}

/** A dispute of one transaction. Amounts in the smallest unit. */
@Entity('med_cases')
export class MedCaseEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'med_cases_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('uuid', { name: 'transaction_id' })
  readonly transactionId!: string;
  @NotPersonal('names a connection')
  @Column('text')
  readonly acquirer!: string;
  /** The bank's own id of the dispute. */
  @NotPersonal('an id of the bank')
  @Column('text')
  readonly reference!: string;
  /** The reference of the disputed payment: the end-to-end id of a Pix. */
  @NotPersonal('an id that the books keep')
  @Column('text', { name: 'payment_reference' })
  readonly paymentReference!: string;
  @Column('text') readonly type!: MedCaseType;
  @Column('text') readonly status!: MedCaseStatus;
  @Column('text', { name: 'money_outcome', nullable: true }) readonly moneyOutcome!: MoneyOutcome | null;
  /** Whether the merchant sees the case. */
  @Column('boolean') readonly visible!: boolean;
  @Column('text', { nullable: true }) readonly review!: MedReview | null;
  @Column('timestamptz', { name: 'reviewed_at', nullable: true }) readonly reviewedAt!: Date | null;
  @Column('uuid', { name: 'reviewed_by', nullable: true }) readonly reviewedBy!: string | null;
  /** The disputed amount: as reported, or as an operator corrected it. */
  @Column('bigint') readonly amount!: Amount;
  @Column('bigint', { name: 'reported_amount' }) readonly reportedAmount!: Amount;
  /** How much of `amount` is held now. */
  @Column('bigint', { name: 'held_amount', default: 0 }) readonly heldAmount!: Amount;
  /** How much of `amount` is lost for good. */
  @Column('bigint', { name: 'lost_amount', default: 0 }) readonly lostAmount!: Amount;
  @NotPersonal('a code')
  @Column('text')
  readonly currency!: string;
  @NotPersonal('what the bank claims: it is kept as the ground of a movement of money')
  @Column('text', { nullable: true })
  readonly reason!: string | null;
  @Column('timestamptz', { name: 'response_deadline', nullable: true }) readonly responseDeadline!: Date | null;
  /** When the next notice of the deadline is due; null when none is left. */
  @Column('timestamptz', { name: 'deadline_due_at', nullable: true }) readonly deadlineDueAt!: Date | null;
  @Column('timestamptz', { name: 'evidence_requested_at', nullable: true }) readonly evidenceRequestedAt!: Date | null;
  @NotPersonal('what the merchant has answered to the claim: kept with it')
  @Column('text', { name: 'appeal_reason', nullable: true })
  readonly appealReason!: string | null;
  @Column('timestamptz', { name: 'appealed_at', nullable: true }) readonly appealedAt!: Date | null;
  @Column('integer', { name: 'evidence_count', default: 0 }) readonly evidenceCount!: number;
  @Column('timestamptz', { name: 'opened_at' }) readonly openedAt!: Date;
  @Column('timestamptz', { name: 'closed_at', nullable: true }) readonly closedAt!: Date | null;
  @Column(() => BankSide, { prefix: false }) readonly bank!: BankSide;
  /** When the merchant could first see the case; while it is under review, when it came. */
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
}
