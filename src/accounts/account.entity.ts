import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../core/database/index.js';
import type { Amount } from '../core/money/index.js';

/** Mode of the fraud guard. `shadow` records the refusals without making them. */
export type FraudMode = 'enforce' | 'shadow' | 'off';

export type Role = 'OWNER' | 'ADMIN' | 'MEMBER';

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

@NotPersonal('people of merchants')
@Entity('users')
export class UserEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'users_pkey' }) readonly id!: string;
  @Column('text') readonly email!: string;
  @Column('text') readonly name!: string;
  @Column('text', { name: 'password_hash', nullable: true }) readonly passwordHash!: string | null;
  @Column('boolean', { default: false }) readonly operator!: boolean;
  /** The secret of the one-time codes (TOTP), in base32, sealed. */
  @Sealed(`'totp:' || id`)
  @Column('bytea', { name: 'totp_secret_sealed', nullable: true })
  readonly totpSecretSealed!: Buffer | null;
  /** Since when a login needs a code. Null: no code is needed, though a secret may wait for its first code. */
  @Column('timestamptz', { name: 'totp_confirmed_at', nullable: true }) readonly totpConfirmedAt!: Date | null;
  /** The 30-second step, counted from 1970, of the last accepted code. */
  @Column('integer', { name: 'totp_step', nullable: true }) readonly totpStep!: number | null;
  /** SHA-256 of the unused recovery codes. */
  @Column('bytea', { name: 'recovery_code_hashes', array: true, default: [] })
  readonly recoveryCodeHashes!: readonly Buffer[];
  /** Time of the last mail that warned about failed logins. */
  @Column('timestamptz', { name: 'warned_at', nullable: true }) readonly warnedAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}

@NotPersonal('people of merchants')
@Entity('members')
export class MemberEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'members_pkey' })
  readonly accountId!: string;
  @PrimaryColumn('uuid', { name: 'user_id', primaryKeyConstraintName: 'members_pkey' })
  readonly userId!: string;
  @Column('text') readonly role!: Role;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}

/** An invitation to become a member, once the invited person accepts. */
@NotPersonal('people of merchants')
@Entity('invitations')
export class InvitationEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'invitations_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' })
  readonly accountId!: string;
  @Column('text') readonly email!: string;
  @Column('text') readonly name!: string;
  @Column('text') readonly role!: Role;
  @Column('bytea', { name: 'token_hash' }) readonly tokenHash!: Buffer;
  @Column('timestamptz', { name: 'expires_at' }) readonly expiresAt!: Date;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  /** The user who sent it; the invitation ends with that user's rights. Null: not sent by a user. */
  @Column('uuid', { name: 'invited_by', nullable: true }) readonly invitedBy!: string | null;
}

/** The reset of a forgotten password: at most one for a user. */
@NotPersonal('people of merchants')
@Entity('password_resets')
export class PasswordResetEntity {
  @PrimaryColumn('uuid', { name: 'user_id', primaryKeyConstraintName: 'password_resets_pkey' })
  readonly userId!: string;
  @Column('bytea', { name: 'token_hash' }) readonly tokenHash!: Buffer;
  @Column('timestamptz', { name: 'expires_at' }) readonly expiresAt!: Date;
}
