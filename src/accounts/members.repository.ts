import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, Reader, read, write, type Tx } from '../core/database/index.js';
import { InvitationEntity, MemberEntity, type Role, type UserEntity } from './account.entity.js';

export interface Member
  extends Pick<MemberEntity, 'userId' | 'role' | 'createdAt'>, Pick<UserEntity, 'email' | 'name'> {
  /** Has a password: an invited member has none yet. */
  readonly active: boolean;
}

/** What a user is in an account. */
export interface Membership {
  readonly accountId: string;
  readonly role: Role;
  /** Null when no invitation waits. */
  readonly invitedUntil: Date | null;
}

const INSERT = insertInto('members.insert', MemberEntity);
const MEMBERSHIPS = read(
  'members.of_user',
  `SELECT m.account_id AS "accountId", m.role, i.expires_at AS "invitedUntil"
   FROM members m LEFT JOIN invitations i ON i.account_id = m.account_id AND i.user_id = m.user_id
   WHERE m.user_id = $1 ORDER BY m.account_id`,
);
const MEMBER = `${columnsOf(MemberEntity, 'm', { without: ['accountId'] })}, u.email, u.name,
  u.password_hash IS NOT NULL AS active`;
const LIST = read(
  'members.list',
  `SELECT ${MEMBER}
   FROM members m JOIN users u ON u.id = m.user_id WHERE m.account_id = $1 ORDER BY m.user_id`,
);
/** In one order, or two that remove each other would wait for each other. */
const LOCK = write(
  'members.lock',
  `SELECT ${MEMBER}
   FROM members m JOIN users u ON u.id = m.user_id
   WHERE m.account_id = $1 AND (m.role = 'OWNER' OR m.user_id = ANY ($2)) ORDER BY m.user_id FOR UPDATE OF m`,
);
const SET_ROLE = write('members.set_role', 'UPDATE members SET role = $3 WHERE account_id = $1 AND user_id = $2');
const REMOVE = write('members.remove', 'DELETE FROM members WHERE account_id = $1 AND user_id = $2');
const PUT_INVITATION = insertInto('invitations.put', InvitationEntity, {
  after: `ON CONFLICT (account_id, user_id) DO UPDATE
     SET token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = excluded.created_at`,
});
const TAKE_INVITATION = write(
  'invitations.take',
  `DELETE FROM invitations WHERE token_hash = $1 AND expires_at > $2
   RETURNING account_id AS "accountId", user_id AS "userId"`,
);

/** What users are in an account, and invitations that wait. */
@Injectable()
export class MembersRepository {
  constructor(private readonly reader: Reader) {}

  /** Of all accounts. */
  async membershipsOf(tx: Tx, userId: string): Promise<Membership[]> {
    return tx.query(MEMBERSHIPS, [userId]);
  }

  insert(tx: Tx, member: MemberEntity): void {
    tx.defer(INSERT, INSERT.valuesOf(member));
  }

  /** In the order in which the users were made. */
  async list(accountId: string): Promise<Member[]> {
    return this.reader.query(LIST, [accountId]);
  }

  /** Every OWNER of the account and these users, as far as they are members. */
  async lock(tx: Tx, accountId: string, userIds: readonly string[]): Promise<Member[]> {
    return tx.query(LOCK, [accountId, userIds]);
  }

  setRole(tx: Tx, accountId: string, userId: string, role: Role): void {
    tx.defer(SET_ROLE, [accountId, userId, role]);
  }

  /** With the invitation, if one waits. */
  remove(tx: Tx, accountId: string, userId: string): void {
    tx.defer(REMOVE, [accountId, userId]);
  }

  /** Replaces an earlier one of the same member. */
  putInvitation(tx: Tx, invitation: InvitationEntity): void {
    tx.defer(PUT_INVITATION, PUT_INVITATION.valuesOf(invitation));
  }

  /** Ends the invitation: of two at once one gets it. */
  async takeInvitation(tx: Tx, tokenHash: Buffer, now: Date): Promise<{ accountId: string; userId: string } | null> {
    const [row] = await tx.query<{ accountId: string; userId: string }>(TAKE_INVITATION, [tokenHash, now]);
    return row ?? null;
  }
}
