import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('med_cases')
@Unique('med_cases_reference_key', ['acquirer', 'reference'])
@Index('med_cases_list_idx', ['accountId', 'mode', 'createdAt', 'id'], { where: 'visible' })
@Index('med_cases_status_idx', ['accountId', 'mode', 'status', 'createdAt', 'id'], { where: 'visible' })
@Index('med_cases_type_idx', ['accountId', 'mode', 'type', 'createdAt', 'id'], { where: 'visible' })
@Index('med_cases_type_status_idx', ['accountId', 'mode', 'type', 'status', 'createdAt', 'id'], { where: 'visible' })
@Index('med_cases_transaction_id_idx', ['transactionId'])
@Index('med_cases_review_idx', ['id'], { where: 'review IS NOT NULL' })
@Index('med_cases_deadline_idx', ['deadlineDueAt'], { where: 'deadline_due_at IS NOT NULL' })
export class MedCaseEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'med_cases_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: string;
  @ForeignKey('TransactionEntity', { name: 'med_cases_transaction_id_fkey' })
  @Column('uuid', { name: 'transaction_id' })
  readonly transactionId!: string;
  @Column('text') readonly acquirer!: string;
  @Column('text') readonly reference!: string;
  @Column('text', { name: 'payment_reference' }) readonly paymentReference!: string;
  @Column('text') readonly type!: string;
  @Column('text') readonly status!: string;
  @Column('text', { name: 'money_outcome', nullable: true }) readonly moneyOutcome!: string | null;
  @Column('boolean') readonly visible!: boolean;
  @Column('text', { nullable: true }) readonly review!: string | null;
  @Column('timestamptz', { name: 'reviewed_at', nullable: true }) readonly reviewedAt!: Date | null;
  @Column('uuid', { name: 'reviewed_by', nullable: true }) readonly reviewedBy!: string | null;
  @Column('bigint') readonly amount!: number;
  @Column('bigint', { name: 'reported_amount' }) readonly reportedAmount!: number;
  @Column('bigint', { name: 'held_amount', default: 0 }) readonly heldAmount!: number;
  @Column('bigint', { name: 'lost_amount', default: 0 }) readonly lostAmount!: number;
  @Column('text') readonly currency!: string;
  @Column('text', { nullable: true }) readonly reason!: string | null;
  @Column('timestamptz', { name: 'response_deadline', nullable: true }) readonly responseDeadline!: Date | null;
  @Column('timestamptz', { name: 'deadline_due_at', nullable: true }) readonly deadlineDueAt!: Date | null;
  @Column('timestamptz', { name: 'evidence_requested_at', nullable: true }) readonly evidenceRequestedAt!: Date | null;
  @Column('text', { name: 'appeal_reason', nullable: true }) readonly appealReason!: string | null;
  @Column('timestamptz', { name: 'appealed_at', nullable: true }) readonly appealedAt!: Date | null;
  @Column('integer', { name: 'evidence_count', default: 0 }) readonly evidenceCount!: number;
  @Column('timestamptz', { name: 'opened_at' }) readonly openedAt!: Date;
  @Column('timestamptz', { name: 'closed_at', nullable: true }) readonly closedAt!: Date | null;
  @Column('text', { name: 'bank_status' }) readonly bankStatus!: string;
  @Column('text', { name: 'bank_result', nullable: true }) readonly bankResult!: string | null;
  @Column('text', { nullable: true }) readonly method!: string | null;
  @Column('bytea', { name: 'payer_sealed', nullable: true }) readonly payerSealed!: Buffer | null;
  @Column('timestamptz', { name: 'bank_updated_at' }) readonly bankUpdatedAt!: Date;
  @Column('timestamptz', { name: 'bank_closed_at', nullable: true }) readonly bankClosedAt!: Date | null;
  @Column('timestamptz', { name: 'applied_at' }) readonly appliedAt!: Date;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
}
