import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Amount } from '../core/money/index.js';

/** Mode of the fraud guard. `shadow` records the refusals without making them. */
export type FraudMode = 'enforce' | 'shadow' | 'off';

/**
 * A merchant and its settings. Fees are in basis points and cents, times in days and seconds. The key guard, settlement
 * and reviews join it to save a round trip: `columnsOf(Account, 'a', { within: 'account' })`.
 */
@NotPersonal('merchants')
export class Account {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'accounts_pkey' }) readonly id!: string;
  @Column('text') readonly name!: string;
  @Column('text', { name: 'contact_email' }) readonly contactEmail!: string;
  @Column('text', { default: 'SAO PAULO' }) readonly city!: string;
  @Column('integer', { name: 'fee_bps', default: 0 }) readonly feeBps!: number;
  @Column('bigint', { name: 'fee_fixed', default: 0 }) readonly feeFixed!: Amount;
  @Column('integer', { name: 'release_days', default: 0 }) readonly releaseDays!: number;
  /** The share of each sale that waits for `reserveDays`, if that is longer than `releaseDays`. */
  @Column('integer', { name: 'reserve_bps', default: 0 }) readonly reserveBps!: number;
  @Column('integer', { name: 'reserve_days', default: 0 }) readonly reserveDays!: number;
  @Column('boolean', { name: 'payer_lock', default: false }) readonly payerLock!: boolean;
  @Column('integer', { name: 'default_expires_in', default: 3600 }) readonly defaultExpiresIn!: number;
  /** Debited with a cashout refund when the merchant takes the fee on itself. */
  @Column('bigint', { name: 'pix_out_fee', default: 0 }) readonly pixOutFee!: Amount;
  /** Whether webhooks report the outcome of its MED cases. */
  @Column('boolean', { name: 'med_outcome_notifications', default: true }) readonly medOutcomeNotifications!: boolean;
  @Column('text', { name: 'fraud_mode', default: 'enforce' }) readonly fraudMode!: FraudMode;
  /** Largest number of charges per minute for one customer document. */
  @Column('integer', { name: 'fraud_velocity', default: 30 }) readonly fraudVelocity!: number;
  /** The maximum ticket; null for none. */
  @Column('bigint', { name: 'fraud_max_amount', nullable: true }) readonly fraudMaxAmount!: Amount | null;
  /**
   * Whether there is a block list. The list itself is read separately: it may be long, and every request reads the
   * account.
   */
  @VirtualColumn({ type: 'boolean', query: (account) => `${account}.fraud_blocked_documents <> '{}'` })
  readonly blocksDocuments!: boolean;
  /** Name of the acquirer of its new live charges; null while there is none. */
  @Column('text', { name: 'live_acquirer', nullable: true }) readonly liveAcquirer!: string | null;
  /** Whether payers who gave an e-mail address get a receipt. */
  @Column('boolean', { name: 'payer_receipts', default: true }) readonly payerReceipts!: boolean;
  /** Days between mails about an available balance below zero; 0: only one mail when it begins. */
  @Column('integer', { name: 'negative_notice_days', default: 7 }) readonly negativeNoticeDays!: number;
  /** Refuses the account's API keys; existing charges and refunds continue. */
  @Column('boolean', { default: false }) readonly suspended!: boolean;
}

/** The account with the settings that only operators read. */
@NotPersonal('merchants, and the documents that they have blocked')
@Entity('accounts')
export class AccountEntity extends Account {
  @Column('text', { name: 'fraud_blocked_documents', array: true, default: [] })
  readonly fraudBlockedDocuments!: readonly string[];
  /** The colour of the checkout's buttons, like `#0b6b60`; null: the service's own. */
  @Column('text', { nullable: true }) readonly accent!: string | null;
  /** The picture on the checkout, as a `data:` URL; null: none. */
  @Column('text', { nullable: true }) readonly logo!: string | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}
