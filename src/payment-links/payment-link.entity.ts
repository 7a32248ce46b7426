import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { Metadata } from '../transactions/index.js';

/** Data that a link may ask of its payers. */
export const ASKABLE = ['name', 'tax_id', 'email', 'phone'] as const;
export type Askable = (typeof ASKABLE)[number];

/** A page on which payers make charges, without its picture. Amounts are in cents of BRL. */
@NotPersonal('the merchant’s own words about what it sells')
export class PaymentLink {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'payment_links_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  /** The end of its public address. */
  @Column('text', { name: 'short_id' }) readonly shortId!: string;
  @Column('text') readonly name!: string;
  @Column('text', { nullable: true }) readonly description!: string | null;
  @Column('text', { name: 'picture_type', nullable: true }) readonly pictureType!: string | null;
  /** Null: the payer chooses, within the two bounds. */
  @Column('bigint', { nullable: true }) readonly amount!: Amount | null;
  @Column('bigint', { name: 'amount_min', nullable: true }) readonly amountMin!: Amount | null;
  @Column('bigint', { name: 'amount_max', nullable: true }) readonly amountMax!: Amount | null;
  /** Null: any number. */
  @Column('integer', { name: 'max_payments', nullable: true }) readonly maxPayments!: number | null;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) readonly expiresAt!: Date | null;
  @Column('text', { array: true }) readonly ask!: readonly Askable[];
  @Column('text', { nullable: true }) readonly question!: string | null;
  @Column('text', { name: 'return_url', nullable: true }) readonly returnUrl!: string | null;
  /** Not `jsonb`: the keys keep their order. */
  @Column('json') readonly metadata!: Metadata;
  /** Payments that were credited. Refunds and disputes do not lower these two. */
  @Column('integer', { name: 'paid_count', default: 0 }) readonly paidCount!: number;
  @Column('bigint', { name: 'paid_amount', default: 0 }) readonly paidAmount!: Amount;
  /** When the merchant ended it; null: not yet. */
  @Column('timestamptz', { name: 'ended_at', nullable: true }) readonly endedAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
}

@NotPersonal('the merchant’s own words about what it sells')
@Entity('payment_links')
export class PaymentLinkEntity extends PaymentLink {
  @Column('bytea', { nullable: true }) readonly picture!: Buffer | null;
}

/** A charge of a link. */
@Entity('payment_link_charges')
export class PaymentLinkCharge {
  @PrimaryColumn('uuid', { name: 'transaction_id', primaryKeyConstraintName: 'payment_link_charges_pkey' })
  readonly transactionId!: string;
  @Column('uuid', { name: 'link_id' }) readonly linkId!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
}
