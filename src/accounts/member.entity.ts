import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { DashboardNotice, MailNotice } from './notices.js';
import type { Role } from './role.js';

@NotPersonal('people of merchants')
@Entity('members')
export class MemberEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'members_pkey' })
  readonly accountId!: string;
  @PrimaryColumn('uuid', { name: 'user_id', primaryKeyConstraintName: 'members_pkey' })
  readonly userId!: string;
  @Column('text') readonly role!: Role;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  /** Null: the defaults of the role. */
  @Column('text', { name: 'notice_mails', array: true, nullable: true }) readonly noticeMails!: MailNotice[] | null;
  /** Null: the defaults. */
  @Column('text', { name: 'notice_toasts', array: true, nullable: true }) readonly noticeToasts!:
    DashboardNotice[] | null;
  /** Notices up to this time are read. Null: none since the person joined. */
  @Column('timestamptz', { name: 'notices_read_live', nullable: true }) readonly noticesReadLive!: Date | null;
  @Column('timestamptz', { name: 'notices_read_test', nullable: true }) readonly noticesReadTest!: Date | null;
  /** Number of the first database transaction whose paid sales are not mailed yet; null: the person wants no such mail. */
  @Column('bigint', { name: 'paid_mails_xid', nullable: true }) readonly paidMailsXid!: number | null;
}
