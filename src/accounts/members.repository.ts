import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, removeDue, type Tx, write } from '../core/database/index.js';
import { Retained } from '../core/retention.js';
import { InvitationEntity } from './invitation.entity.js';
import { MemberEntity } from './member.entity.js';
import type { ChosenNotices, ReadNotices } from './notices.js';
import type { Role } from './role.js';
import type { UserEntity } from './user.entity.js';

/** The first sales that are not mailed yet, for one member. */
export interface PaidMails {
  readonly accountId: string;
  readonly email: string;
  /** Number of the first database transaction whose sales are not mailed yet. */
  readonly xid: number;
}

export type Member = Omit<MemberEntity, 'accountId'> & Pick<UserEntity, 'email' | 'name'>;

/** Columns that a new member has empty. */
const LATER = ['noticeMails', 'noticeToasts', 'noticesReadLive', 'noticesReadTest', 'paidMailsXid'] as const;
const INSERT = insertInto('members.insert', MemberEntity, { without: LATER });
const ACCOUNTS_OF = read(
  'members.accounts_of',
  'SELECT account_id AS "accountId" FROM members WHERE user_id = $1 ORDER BY account_id',
);
/** Locks the membership until the end of the transaction. */
const HOLD = write('members.hold', 'SELECT role FROM members WHERE account_id = $1 AND user_id = $2 FOR KEY SHARE');
const MEMBER = `${columnsOf(MemberEntity, 'm', { without: ['accountId'] })}, u.email, u.name`;
const LIST = read(
  'members.list',
  `SELECT ${MEMBER}
   FROM members m JOIN users u ON u.id = m.user_id WHERE m.account_id = $1 ORDER BY m.user_id`,
);
/** Locks in a fixed order: otherwise two members who remove each other would deadlock. */
const LOCK = write(
  'members.lock',
  `SELECT ${MEMBER}
   FROM members m JOIN users u ON u.id = m.user_id
   WHERE m.account_id = $1 AND (m.role = 'OWNER' OR m.user_id = ANY ($2)) ORDER BY m.user_id FOR UPDATE OF m`,
);
const SET_ROLE = write('members.set_role', 'UPDATE members SET role = $3 WHERE account_id = $1 AND user_id = $2');
/** Null keeps a list as it is. Mails about paid sales begin with those that are paid after the choice. */
const CHOOSE_NOTICES = write(
  'members.choose_notices',
  `UPDATE members SET notice_mails = coalesce($3::text[], notice_mails), notice_toasts = coalesce($4::text[], notice_toasts),
     paid_mails_xid = CASE WHEN 'paid' = ANY (coalesce($3::text[], notice_mails))
       THEN coalesce(paid_mails_xid, pg_snapshot_xmax(pg_current_snapshot())::text::bigint) END
   WHERE account_id = $1 AND user_id = $2`,
);
/** Null keeps a time as it is; a time never goes back. */
const READ_NOTICES = write(
  'members.read_notices',
  `UPDATE members SET notices_read_live = greatest(notices_read_live, $3::timestamptz),
     notices_read_test = greatest(notices_read_test, $4::timestamptz)
   WHERE account_id = $1 AND user_id = $2`,
);
/** Locks the memberships of a user who wants mails about paid sales. */
const LOCK_PAID_MAILS = write(
  'members.lock_paid_mails',
  `SELECT m.account_id AS "accountId", m.paid_mails_xid AS xid, u.email FROM members m JOIN users u ON u.id = m.user_id
   WHERE m.user_id = $1 AND m.paid_mails_xid IS NOT NULL ORDER BY m.account_id FOR NO KEY UPDATE OF m`,
);
const SET_PAID_MAILS = write(
  'members.set_paid_mails',
  'UPDATE members SET paid_mails_xid = $3 WHERE account_id = $1 AND user_id = $2',
);
const REMOVE = write('members.remove', 'DELETE FROM members WHERE account_id = $1 AND user_id = $2');
const WITHDRAW = write('invitations.withdraw', 'DELETE FROM invitations WHERE account_id = $1 AND invited_by = $2');
const INVITATION = columnsOf(InvitationEntity, 'i');
const OPEN_INVITATIONS = read(
  'invitations.open',
  `SELECT ${INVITATION} FROM invitations i WHERE i.account_id = $1 AND i.expires_at > $2 ORDER BY i.created_at, i.id`,
);
const FIND_INVITATION = read(
  'invitations.find',
  `SELECT ${INVITATION} FROM invitations i WHERE i.token_hash = $1 AND i.expires_at > $2`,
);
const PUT_INVITATION = insertInto('invitations.put', InvitationEntity, {
  after: `ON CONFLICT (account_id, email) DO UPDATE SET id = excluded.id, name = excluded.name, role = excluded.role,
     token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = excluded.created_at,
     invited_by = excluded.invited_by`,
});
const TAKE_INVITATION = write('invitations.take', 'DELETE FROM invitations WHERE id = $1 RETURNING 1');
const REMOVE_INVITATIONS = removeDue('invitations.remove', 'invitations', { dueAt: 'expires_at' });

/** The users of an account, and its open invitations. */
@Injectable()
export class MembersRepository {
  constructor(private readonly reader: Reader) {}

  /** The accounts that the user is a member of. */
  async accountsOf(tx: Tx, userId: string): Promise<string[]> {
    const rows = await tx.query<{ accountId: string }>(ACCOUNTS_OF, [userId]);
    return rows.map(({ accountId }) => accountId);
  }

  /** @returns the user's role in the account, until the end of `tx`; null: no member */
  async hold(tx: Tx, accountId: string, userId: string): Promise<Role | null> {
    const [row] = await tx.query<{ role: Role }>(HOLD, [accountId, userId]);
    return row?.role ?? null;
  }

  insert(tx: Tx, member: Omit<MemberEntity, (typeof LATER)[number]>): void {
    tx.defer(INSERT, INSERT.valuesOf(member));
  }

  /** Members in the order in which their users were made. @param tx for callers with an open transaction */
  async list(accountId: string, tx?: Tx): Promise<Member[]> {
    return (tx ?? this.reader).query(LIST, [accountId]);
  }

  /** Locks every OWNER of the account, and these users if they are members. */
  async lock(tx: Tx, accountId: string, userIds: readonly string[]): Promise<Member[]> {
    return tx.query(LOCK, [accountId, userIds]);
  }

  setRole(tx: Tx, accountId: string, userId: string, role: Role): void {
    tx.defer(SET_ROLE, [accountId, userId, role]);
  }

  chooseNotices(tx: Tx, accountId: string, userId: string, { mail, dashboard }: Partial<ChosenNotices>): void {
    tx.defer(CHOOSE_NOTICES, [accountId, userId, mail ?? null, dashboard ?? null]);
  }

  /** @param read times that change */
  readNotices(tx: Tx, accountId: string, userId: string, read: Partial<ReadNotices>): void {
    tx.defer(READ_NOTICES, [accountId, userId, read.live ?? null, read.test ?? null]);
  }

  /** Locks how far the user's mails about paid sales have come: nothing if the user wants none. */
  async lockPaidMails(tx: Tx, userId: string): Promise<PaidMails[]> {
    return tx.query(LOCK_PAID_MAILS, [userId]);
  }

  setPaidMails(tx: Tx, accountId: string, userId: string, xid: number): void {
    tx.defer(SET_PAID_MAILS, [accountId, userId, xid]);
  }

  remove(tx: Tx, accountId: string, userId: string): void {
    tx.defer(REMOVE, [accountId, userId]);
  }

  /** Withdraws the invitations that the user has sent. */
  withdrawSentBy(tx: Tx, accountId: string, userId: string): void {
    tx.defer(WITHDRAW, [accountId, userId]);
  }

  /** Lists invitations that can be accepted, oldest first. */
  async openInvitations(accountId: string, now: Date): Promise<InvitationEntity[]> {
    return this.reader.query(OPEN_INVITATIONS, [accountId, now]);
  }

  /** Lists invitations that can be accepted as `tx` sees them, oldest first. */
  async openInvitationsIn(tx: Tx, accountId: string, now: Date): Promise<InvitationEntity[]> {
    return tx.query(OPEN_INVITATIONS, [accountId, now]);
  }

  /** Replaces an earlier invitation of the account for this e-mail. */
  putInvitation(tx: Tx, invitation: InvitationEntity): void {
    tx.defer(PUT_INVITATION, PUT_INVITATION.valuesOf(invitation));
  }

  async findInvitation(tokenHash: Buffer, now: Date): Promise<InvitationEntity | null> {
    return this.reader.first<InvitationEntity>(FIND_INVITATION, [tokenHash, now]);
  }

  /** @returns whether it was still there: only one of two calls at once gets it */
  async takeInvitation(tx: Tx, id: string): Promise<boolean> {
    return (await tx.query(TAKE_INVITATION, [id])).length > 0;
  }

  /**
   * Removes invitations expired before `expiredBefore`, as e-mails of invited people are not kept.
   * @returns how many
   */
  @Retained('invitations', 0)
  async removeInvitations(tx: Tx, expiredBefore: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE_INVITATIONS, [expiredBefore, limit])).length;
  }
}
