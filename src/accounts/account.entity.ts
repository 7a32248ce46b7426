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
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('users')
@Unique('users_email_key', ['email'])
export class UserEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'users_pkey' }) id!: string;
  @Column('text') email!: string;
  @Column('text') name!: string;
  @Column('text', { name: 'password_hash' }) passwordHash!: string;
  @Column('boolean', { default: false }) operator!: boolean;
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
