import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';

/**
 * Buckets in which one account's money of one mode and currency lies. A positive balance is owed to somebody:
 * - `available`, `pending`, `retained`: owed to the merchant (spendable, waiting for its release, held by disputes);
 * - `reserved`: set aside for refunds on their way to payers, and for payouts;
 * - `suspense`: owed to payers, or to an owner whom an operator has to find. Late, double, wrong or unmatched payments
 *   lie here until they are back, and held money until the decision;
 * - `platform_fees`, `provider_fees`: earned by the service and by the acquirer;
 * - `clearing`: the counterpart, money that the acquirer holds for us; negative by the held amount.
 *
 * Each account has its own buckets of every kind: a row shared by all merchants would make all of them wait for each
 * other.
 */
export type Bucket =
  'available' | 'pending' | 'retained' | 'reserved' | 'suspense' | 'platform_fees' | 'provider_fees' | 'clearing';

@NotPersonal('the books: ids and amounts')
@Entity('balances')
export class BalanceEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'balances_pkey' }) readonly accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balances_pkey' }) readonly mode!: Mode;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balances_pkey' }) readonly currency!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balances_pkey' }) readonly bucket!: Bucket;
  @Column('bigint') readonly amount!: Amount;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
  /** The number of the wallet's last entry; kept in the row of its bucket `available`. */
  @Column('bigint', { default: 0 }) readonly entries!: number;
  /** When `available` went below zero; null if it is not below. */
  @Column('timestamptz', { name: 'negative_since', nullable: true }) readonly negativeSince!: Date | null;
  /** When the merchant's next notice of the negative balance is due; null: no more notices. */
  @Column('timestamptz', { name: 'negative_notice_at', nullable: true }) readonly negativeNoticeAt!: Date | null;
}
