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
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'med_cases_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @ForeignKey('TransactionEntity', { name: 'med_cases_transaction_id_fkey' })
  @Column('uuid', { name: 'transaction_id' })
  transactionId!: string;
  @Column('text') acquirer!: string;
  @Column('text') reference!: string;
  @Column('text', { name: 'payment_reference' }) paymentReference!: string;
  @Column('text') type!: string;
  @Column('text') status!: string;
  @Column('text', { name: 'money_outcome', nullable: true }) moneyOutcome!: string | null;
  @Column('boolean') visible!: boolean;
  @Column('text', { nullable: true }) review!: string | null;
  @Column('timestamptz', { name: 'reviewed_at', nullable: true }) reviewedAt!: Date | null;
  @Column('uuid', { name: 'reviewed_by', nullable: true }) reviewedBy!: string | null;
  @Column('bigint') amount!: number;
  @Column('bigint', { name: 'reported_amount' }) reportedAmount!: number;
  @Column('bigint', { name: 'held_amount', default: 0 }) heldAmount!: number;
  @Column('bigint', { name: 'lost_amount', default: 0 }) lostAmount!: number;
  @Column('text') currency!: string;
  @Column('text', { nullable: true }) reason!: string | null;
  @Column('timestamptz', { name: 'response_deadline', nullable: true }) responseDeadline!: Date | null;
  @Column('timestamptz', { name: 'deadline_due_at', nullable: true }) deadlineDueAt!: Date | null;
  @Column('timestamptz', { name: 'evidence_requested_at', nullable: true }) evidenceRequestedAt!: Date | null;
  @Column('text', { name: 'appeal_reason', nullable: true }) appealReason!: string | null;
  @Column('timestamptz', { name: 'appealed_at', nullable: true }) appealedAt!: Date | null;
  @Column('integer', { name: 'evidence_count', default: 0 }) evidenceCount!: number;
  @Column('timestamptz', { name: 'opened_at' }) openedAt!: Date;
  @Column('timestamptz', { name: 'closed_at', nullable: true }) closedAt!: Date | null;
  @Column('text', { name: 'bank_status' }) bankStatus!: string;
  @Column('text', { name: 'bank_result', nullable: true }) bankResult!: string | null;
  @Column('text', { nullable: true }) method!: string | null;
  @Column('bytea', { name: 'payer_sealed', nullable: true }) payerSealed!: Buffer | null;
  @Column('timestamptz', { name: 'bank_updated_at' }) bankUpdatedAt!: Date;
  @Column('timestamptz', { name: 'bank_closed_at', nullable: true }) bankClosedAt!: Date | null;
  @Column('timestamptz', { name: 'applied_at' }) appliedAt!: Date;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
