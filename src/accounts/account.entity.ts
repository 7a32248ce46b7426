import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('accounts')
export class AccountEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'accounts_pkey' }) id!: string;
  @Column('text') name!: string;
  @Column('text', { name: 'contact_email' }) contactEmail!: string;
  @Column('text', { default: 'SAO PAULO' }) city!: string;
  @Column('integer', { name: 'fee_bps', default: 0 }) feeBps!: number;
  @Column('bigint', { name: 'fee_fixed', default: 0 }) feeFixed!: number;
  @Column('integer', { name: 'release_days', default: 0 }) releaseDays!: number;
  @Column('boolean', { name: 'payer_lock', default: false }) payerLock!: boolean;
  @Column('integer', { name: 'default_expires_in', default: 3600 }) defaultExpiresIn!: number;
  @Column('text', { name: 'fraud_mode', default: 'enforce' }) fraudMode!: string;
  @Column('integer', { name: 'fraud_velocity', default: 30 }) fraudVelocity!: number;
  @Column('bigint', { name: 'fraud_max_amount', nullable: true }) fraudMaxAmount!: number | null;
  @Column('text', { name: 'fraud_blocked_documents', array: true, default: [] }) fraudBlockedDocuments!: string[];
  @Column('bigint', { name: 'pix_out_fee', default: 0 }) pixOutFee!: number;
  @Column('boolean', { name: 'med_outcome_notifications', default: true }) medOutcomeNotifications!: boolean;
  @Column('text', { name: 'live_acquirer', nullable: true }) liveAcquirer!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('users')
@Unique('users_email_key', ['email'])
export class UserEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'users_pkey' }) id!: string;
  @Column('text') email!: string;
  @Column('text') name!: string;
  @Column('text', { name: 'password_hash', nullable: true }) passwordHash!: string | null;
  @Column('boolean', { default: false }) operator!: boolean;
  @Column('timestamptz', { name: 'sessions_from', nullable: true }) sessionsFrom!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('members')
@Index('members_user_id_idx', ['userId'])
export class MemberEntity {
  @ForeignKey('AccountEntity', { name: 'members_account_id_fkey' })
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'members_pkey' })
  accountId!: string;
  @ForeignKey('UserEntity', { name: 'members_user_id_fkey' })
  @PrimaryColumn('uuid', { name: 'user_id', primaryKeyConstraintName: 'members_pkey' })
  userId!: string;
  @Column('text') role!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('invitations')
@Unique('invitations_token_hash_key', ['tokenHash'])
@ForeignKey('MemberEntity', ['accountId', 'userId'], ['accountId', 'userId'], {
  name: 'invitations_member_fkey',
  onDelete: 'CASCADE',
})
export class InvitationEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'invitations_pkey' }) accountId!: string;
  @PrimaryColumn('uuid', { name: 'user_id', primaryKeyConstraintName: 'invitations_pkey' }) userId!: string;
  @Column('bytea', { name: 'token_hash' }) tokenHash!: Buffer;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
