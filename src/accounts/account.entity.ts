import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Amount } from '../core/money/index.js';

/** Mode of the fraud guard. `shadow` records the refusals without making them. */
export type FraudMode = 'enforce' | 'shadow' | 'off';

/** When the available money goes to a saved destination. Times are of São Paulo, amounts in cents. */
export interface PayoutSchedule {
  readonly every: 'day' | 'week' | 'month';
  /** `week`: 1 (Monday) to 5 (Friday); `month`: 1 to 31, in a shorter month its last day; `day`: null. */
  readonly on: number | null;
  /** `HH:MM`. */
  readonly at: string;
  /** UUID of the saved destination, whose mode is the mode of the payouts. */
  readonly destination: string;
  /** The part of the available balance that stays. */
  readonly leave: Amount;
  /** Nothing is sent when less than this is left. */
  readonly minimum: Amount;
}

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
  /** CPF or CNPJ of the merchant without punctuation; null: not known, and no live payout is made. */
  @Column('text', { name: 'tax_id', nullable: true }) readonly taxId!: string | null;
  /** Debited with each payout, in cents. */
  @Column('bigint', { name: 'payout_fee', default: 0 }) readonly payoutFee!: Amount;
  /** Receivers of payouts; null here and in the limits below: the default of the mode (`DEFAULT_RULES` of payouts). */
  @Column('text', { name: 'payouts_to', nullable: true }) readonly payoutsTo!: 'own' | 'anyone' | null;
  /** A payout above this amount needs a second person. */
  @Column('bigint', { name: 'payout_approval_above', nullable: true }) readonly payoutApprovalAbove!: Amount | null;
  /** Hours that a payout to a new destination waits. */
  @Column('integer', { name: 'payout_new_destination_hours', nullable: true })
  readonly payoutNewDestinationHours!: number | null;
  @Column('bigint', { name: 'payout_max', nullable: true }) readonly payoutMax!: Amount | null;
  @Column('bigint', { name: 'payout_daily_max', nullable: true }) readonly payoutDailyMax!: Amount | null;
  @Column('bigint', { name: 'payout_night_max', nullable: true }) readonly payoutNightMax!: Amount | null;
  /** Payouts by schedule; null: none. */
  @Column('jsonb', { name: 'payout_schedule', nullable: true }) readonly payoutSchedule!: PayoutSchedule | null;
  /** Occurrences of the schedule up to this time are over; null: there was never a schedule. */
  @Column('timestamptz', { name: 'payout_schedule_after', nullable: true }) readonly payoutScheduleAfter!: Date | null;
  /** The member who last changed the schedule; null for operators and the command line. */
  @Column('uuid', { name: 'payout_schedule_by', nullable: true }) readonly payoutScheduleBy!: string | null;
  /** Whether its OWNERs get the closing of each month by mail. */
  @Column('boolean', { name: 'monthly_closing', default: false }) readonly monthlyClosing!: boolean;
  /** First bank days up to this time are over; null: the account never wanted a closing. */
  @Column('timestamptz', { name: 'monthly_closing_after', nullable: true }) readonly monthlyClosingAfter!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}
