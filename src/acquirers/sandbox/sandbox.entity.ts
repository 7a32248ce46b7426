import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** Payments by any method. */
@Entity('sandbox_pix')
@Index('sandbox_pix_txid_idx', ['txid'])
export class SandboxPixEntity {
  @PrimaryColumn('uuid', { name: 'holder_id', primaryKeyConstraintName: 'sandbox_pix_pkey' }) holderId!: string;
  @PrimaryColumn('text', { name: 'end_to_end_id', primaryKeyConstraintName: 'sandbox_pix_pkey' }) endToEndId!: string;
  @Column('text') txid!: string;
  @Column('bigint') amount!: number;
  @Column('bytea', { name: 'payer_sealed' }) payerSealed!: Buffer;
  @Column('timestamptz', { name: 'settled_at' }) settledAt!: Date;
  @Column('text', { default: 'PIX' }) method!: string;
}

@Entity('sandbox_order_events')
export class SandboxOrderEventEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_order_events_pkey' }) txid!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_order_events_pkey' }) kind!: string;
  @Column('timestamptz', { name: 'happened_at' }) happenedAt!: Date;
}

@Entity('sandbox_charges')
export class SandboxChargeEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_charges_pkey' }) txid!: string;
  @Column('text') status!: string;
  @Column('timestamptz', { name: 'ended_at' }) endedAt!: Date;
}

@Entity('sandbox_returns')
@ForeignKey('SandboxPixEntity', ['holderId', 'endToEndId'], ['holderId', 'endToEndId'], {
  name: 'sandbox_returns_end_to_end_id_fkey',
})
export class SandboxReturnEntity {
  @PrimaryColumn('uuid', { name: 'holder_id', primaryKeyConstraintName: 'sandbox_returns_pkey' }) holderId!: string;
  @PrimaryColumn('text', { name: 'end_to_end_id', primaryKeyConstraintName: 'sandbox_returns_pkey' })
  endToEndId!: string;
  @PrimaryColumn('text', { name: 'return_id', primaryKeyConstraintName: 'sandbox_returns_pkey' }) returnId!: string;
  @Column('bigint') amount!: number;
  @Column('timestamptz', { name: 'requested_at' }) requestedAt!: Date;
  @Column('text', { default: 'devolution' }) way!: string;
  @Column('bytea', { name: 'destination_sealed', nullable: true }) destinationSealed!: Buffer | null;
  @Column('text', { name: 'bank_reference', nullable: true }) bankReference!: string | null;
  @Column('boolean', { default: false }) fails!: boolean;
}

/** Charges whose next refund fails. */
@Entity('sandbox_refund_failures')
export class SandboxRefundFailureEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_refund_failures_pkey' }) txid!: string;
  @Column('timestamptz', { name: 'asked_at' }) askedAt!: Date;
}

@Entity('sandbox_disputes')
@Index('sandbox_disputes_txid_idx', ['txid'])
@Index('sandbox_disputes_end_to_end_id_idx', ['holderId', 'endToEndId'])
@ForeignKey('SandboxPixEntity', ['holderId', 'endToEndId'], ['holderId', 'endToEndId'], {
  name: 'sandbox_disputes_end_to_end_id_fkey',
})
export class SandboxDisputeEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_disputes_pkey' }) reference!: string;
  @Column('text') txid!: string;
  @Column('uuid', { name: 'holder_id' }) holderId!: string;
  @Column('text', { name: 'end_to_end_id' }) endToEndId!: string;
  @Column('text') type!: string;
  @Column('bigint') amount!: number;
  @Column('text') status!: string;
  @Column('text', { nullable: true }) result!: string | null;
  @Column('text', { nullable: true }) method!: string | null;
  @Column('text', { nullable: true }) reason!: string | null;
  @Column('timestamptz', { name: 'response_deadline', nullable: true }) responseDeadline!: Date | null;
  @Column('timestamptz', { name: 'opened_at' }) openedAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
  @Column('timestamptz', { name: 'closed_at', nullable: true }) closedAt!: Date | null;
}
