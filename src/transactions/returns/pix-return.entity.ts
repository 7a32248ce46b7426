import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../../core/database/index.js';
import type { RefundWay } from '../../acquirers/index.js';
import type { Mode } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';

/** Reasons why a Pix is not the payment of its charge; shown on the sale. */
export const SHOWN_RETURNS = ['wrong_amount', 'late', 'duplicate', 'charge_closed'] as const;

/**
 * Reasons for which money goes back without having been credited.
 * For three of them the sale itself ends as REFUNDED or CANCELLED, without an entry in its `returns`. With
 * `payer_mismatch` another person has paid. With `review_returned` an operator sent held money back. With `cancelled`
 * the merchant cancelled a held charge.
 * `unmatched` is a Pix of no charge that an operator has sent back.
 */
export const RETURN_REASONS = [
  ...SHOWN_RETURNS,
  'payer_mismatch',
  'review_returned',
  'cancelled',
  'unmatched',
] as const;

export type ReturnReason = (typeof RETURN_REASONS)[number];

export const RETURN_STATUSES = ['PENDING', 'IN_PROGRESS', 'RETURNED', 'FAILED'] as const;

export type ReturnStatus = (typeof RETURN_STATUSES)[number];

@NotPersonal('ids, amounts and reasons of the bank')
@Entity('pix_returns')
export class PixReturnEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'pix_returns_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  /** Null: the returned Pix matches no charge. */
  @Column('uuid', { name: 'transaction_id', nullable: true })
  readonly transactionId!: string | null;
  @Column('text') readonly acquirer!: string;
  @Column('text', { name: 'end_to_end_id' }) readonly endToEndId!: string;
  @Column('text', { name: 'return_id' }) readonly returnId!: string;
  @Column('text', { default: 'devolution' }) readonly way!: RefundWay;
  @Column('text', { default: 'BRL' }) readonly currency!: string;
  @Column('bigint') readonly amount!: Amount;
  @Column('text') readonly reason!: ReturnReason;
  @Column('text') readonly status!: ReturnStatus;
  @Column('text', { name: 'failure_reason', nullable: true }) readonly failureReason!: string | null;
  /** The acquirer's fee for the return, charged once the money is with its payer. */
  @Column('bigint', { name: 'provider_fee', default: 0 }) readonly providerFee!: Amount;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
}
