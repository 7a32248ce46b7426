import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import type { Dispute, DisputeMethod, DisputeType, OrderEvent, PaymentMethod, RefundWay } from '../acquirer.port.js';

/** Payments by any method. */
@NotPersonal('the simulated bank, which keeps what a real one does, sealed')
@Entity('sandbox_pix')
export class SandboxPixEntity {
  @PrimaryColumn('uuid', { name: 'holder_id', primaryKeyConstraintName: 'sandbox_pix_pkey' })
  readonly holderId!: string;
  @PrimaryColumn('text', { name: 'end_to_end_id', primaryKeyConstraintName: 'sandbox_pix_pkey' })
  readonly endToEndId!: string;
  @Column('text') readonly txid!: string;
  @Column('bigint') readonly amount!: Amount;
  @Sealed(`'sandbox_pix:' || end_to_end_id`)
  @Column('bytea', { name: 'payer_sealed' })
  readonly payerSealed!: Buffer;
  @Column('timestamptz', { name: 'settled_at' }) readonly settledAt!: Date;
  @Column('text', { default: 'PIX' }) readonly method!: PaymentMethod;
}

@NotPersonal('the simulated bank')
@Entity('sandbox_order_events')
export class SandboxOrderEventEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_order_events_pkey' }) readonly txid!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_order_events_pkey' }) readonly kind!: OrderEvent['kind'];
  @Column('timestamptz', { name: 'happened_at' }) readonly happenedAt!: Date;
}

@NotPersonal('the simulated bank')
@Entity('sandbox_charges')
export class SandboxChargeEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_charges_pkey' }) readonly txid!: string;
  @Column('text') readonly status!: 'EXPIRED' | 'REFUSED' | 'REMOVED';
  @Column('timestamptz', { name: 'ended_at' }) readonly endedAt!: Date;
}

@NotPersonal('the simulated bank, which keeps what a real one does, sealed')
@Entity('sandbox_returns')
export class SandboxReturnEntity {
  @PrimaryColumn('uuid', { name: 'holder_id', primaryKeyConstraintName: 'sandbox_returns_pkey' })
  readonly holderId!: string;
  @PrimaryColumn('text', { name: 'end_to_end_id', primaryKeyConstraintName: 'sandbox_returns_pkey' })
  readonly endToEndId!: string;
  @PrimaryColumn('text', { name: 'return_id', primaryKeyConstraintName: 'sandbox_returns_pkey' })
  readonly returnId!: string;
  @Column('bigint') readonly amount!: Amount;
  @Column('timestamptz', { name: 'requested_at' }) readonly requestedAt!: Date;
  @Column('text', { default: 'devolution' }) readonly way!: RefundWay;
  @Sealed(`'sandbox_return:' || end_to_end_id || '/' || return_id`)
  @Column('bytea', { name: 'destination_sealed', nullable: true })
  readonly destinationSealed!: Buffer | null;
  @Column('text', { name: 'bank_reference', nullable: true }) readonly bankReference!: string | null;
  @Column('boolean', { default: false }) readonly fails!: boolean;
}

/** Charges whose next refund fails. */
@NotPersonal('the simulated bank')
@Entity('sandbox_refund_failures')
export class SandboxRefundFailureEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_refund_failures_pkey' }) readonly txid!: string;
  @Column('timestamptz', { name: 'asked_at' }) readonly askedAt!: Date;
}

@NotPersonal('the simulated bank')
@Entity('sandbox_disputes')
export class SandboxDisputeEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_disputes_pkey' }) readonly reference!: string;
  @Column('text') readonly txid!: string;
  @Column('uuid', { name: 'holder_id' }) readonly holderId!: string;
  @Column('text', { name: 'end_to_end_id' }) readonly endToEndId!: string;
  @Column('text') readonly type!: DisputeType;
  @Column('bigint') readonly amount!: Amount;
  @Column('text') readonly status!: Dispute['status'];
  @Column('text', { nullable: true }) readonly result!: Dispute['result'];
  @Column('text', { nullable: true }) readonly method!: DisputeMethod | null;
  @Column('text', { nullable: true }) readonly reason!: string | null;
  @Column('timestamptz', { name: 'response_deadline', nullable: true }) readonly responseDeadline!: Date | null;
  @Column('timestamptz', { name: 'opened_at' }) readonly openedAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
  @Column('timestamptz', { name: 'closed_at', nullable: true }) readonly closedAt!: Date | null;
  /** The person who opened the dispute, as its report says; null: the report names nobody. */
  @Sealed(`'sandbox_dispute:' || reference`)
  @Column('bytea', { name: 'payer_sealed', nullable: true })
  readonly payerSealed!: Buffer | null;
}
