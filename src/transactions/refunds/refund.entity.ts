import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RefundWay, ReturnFailure } from '../../acquirers/index.js';
import { NotPersonal, Personal, Sealed } from '../../core/database/index.js';
import type { Mode } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import type { RefundStatus } from './refunds.machine.js';

/** Why a refund failed: the acquirer's reason, or ours for not calling it. */
export type RefundFailure = ReturnFailure | 'charge_disputed';

/** Money of a paid transaction on its way back to the payer. Amounts in the smallest unit. */
export class Refund {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'refunds_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('uuid', { name: 'transaction_id' })
  readonly transactionId!: string;
  @NotPersonal('names a connection')
  @Column('text')
  readonly acquirer!: string;
  /** The acquirer's id of the payment: the end-to-end id of a Pix. */
  @NotPersonal('an id that the books keep')
  @Column('text', { name: 'payment_reference' })
  readonly paymentReference!: string;
  @Column('text') readonly way!: RefundWay;
  @Column('bigint') readonly amount!: Amount;
  /** The Pix-out fee that the merchant bears, on top of the amount. */
  @Column('bigint') readonly fee!: Amount;
  @NotPersonal('a code')
  @Column('text')
  readonly currency!: string;
  @Personal({ erased: 'with_metadata' })
  @Column('text', { nullable: true })
  readonly reason!: string | null;
  /** The Pix key of a cashout with a chosen key; null: the payer's document. */
  @Personal()
  @Sealed(`'refund:' || id`)
  @Column('bytea', { name: 'destination_sealed', nullable: true })
  readonly destinationSealed!: Buffer | null;
  @Column('text') readonly status!: RefundStatus;
  /** The id that the payer's bank shows: a devolution's rtrId, a cashout's end-to-end id. */
  @NotPersonal('an id that the books keep')
  @Column('text', { name: 'bank_reference', nullable: true })
  readonly bankReference!: string | null;
  @Column('text', { name: 'failure_reason', nullable: true }) readonly failureReason!: RefundFailure | null;
  /** The acquirer's fee for the refund, charged once the money is with its payer; the platform bears it. */
  @Column('bigint', { name: 'provider_fee', default: 0 }) readonly providerFee!: Amount;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
}

@Entity('refunds')
export class RefundEntity extends Refund {}
