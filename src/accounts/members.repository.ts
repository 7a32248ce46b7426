import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';

export type Role = 'OWNER' | 'ADMIN' | 'MEMBER';

export interface Member {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** Has a password: an invited member has none yet. */
  readonly active: boolean;
  readonly createdAt: Date;
}

/** What a user is in an account. */
export interface Membership {
  readonly accountId: string;
  readonly role: Role;
  /** Null when no invitation waits. */
  readonly invitedUntil: Date | null;
}

const INSERT = statement(
  'members.insert',
  'INSERT INTO members (account_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)',
);
const MEMBERSHIPS = statement(
  'members.of_user',
  `SELECT m.account_id, m.role, i.expires_at AS invited_until
   FROM members m LEFT JOIN invitations i ON i.account_id = m.account_id AND i.user_id = m.user_id
   WHERE m.user_id = $1 ORDER BY m.account_id`,
);
const LIST = statement(
  'members.list',
  `SELECT m.user_id, u.email, u.name, m.role, u.password_hash IS NOT NULL AS active, m.created_at
   FROM members m JOIN users u ON u.id = m.user_id WHERE m.account_id = $1 ORDER BY m.user_id`,
);
/** In one order, or two that remove each other would wait for each other. */
const LOCK = statement(
  'members.lock',
  `SELECT m.user_id, u.email, u.name, m.role, u.password_hash IS NOT NULL AS active, m.created_at
   FROM members m JOIN users u ON u.id = m.user_id
   WHERE m.account_id = $1 AND (m.role = 'OWNER' OR m.user_id = ANY ($2)) ORDER BY m.user_id FOR UPDATE OF m`,
);
const SET_ROLE = statement('members.set_role', 'UPDATE members SET role = $3 WHERE account_id = $1 AND user_id = $2');
const REMOVE = statement('members.remove', 'DELETE FROM members WHERE account_id = $1 AND user_id = $2');
const PUT_INVITATION = statement(
  'invitations.put',
  `INSERT INTO invitations (account_id, user_id, token_hash, expires_at, created_at) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (account_id, user_id) DO UPDATE
     SET token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = excluded.created_at`,
);
const TAKE_INVITATION = statement(
  'invitations.take',
  'DELETE FROM invitations WHERE token_hash = $1 AND expires_at > $2 RETURNING account_id, user_id',
);

interface MemberRow {
  user_id: string;
  email: string;
  name: string;
  role: Role;
  active: boolean;
  created_at: Date;
}

function toMember(row: MemberRow): Member {
  return {
    userId: row.user_id,
    email: row.email,
    name: row.name,
    role: row.role,
    active: row.active,
    createdAt: row.created_at,
  };
}

/** What users are in an account, and invitations that wait. */
@Injectable()
export class MembersRepository {
  constructor(private readonly reader: Reader) {}

  /** Of all accounts. */
  async membershipsOf(tx: Tx, userId: string): Promise<Membership[]> {
    const rows = await tx.query<{ account_id: string; role: Role; invited_until: Date | null }>(MEMBERSHIPS, [userId]);
    return rows.map((row) => ({ accountId: row.account_id, role: row.role, invitedUntil: row.invited_until }));
  }

  insert(tx: Tx, member: { accountId: string; userId: string; role: Role; createdAt: Date }): void {
    tx.defer(INSERT, [member.accountId, member.userId, member.role, member.createdAt]);
  }

  /** In the order in which the users were made. */
  async list(accountId: string): Promise<Member[]> {
    return (await this.reader.query<MemberRow>(LIST, [accountId])).map(toMember);
  }

  /** Every OWNER of the account and these users, as far as they are members. */
  async lock(tx: Tx, accountId: string, userIds: readonly string[]): Promise<Member[]> {
    return (await tx.query<MemberRow>(LOCK, [accountId, userIds])).map(toMember);
  }

  setRole(tx: Tx, accountId: string, userId: string, role: Role): void {
    tx.defer(SET_ROLE, [accountId, userId, role]);
  }

  /** With the invitation, if one waits. */
  remove(tx: Tx, accountId: string, userId: string): void {
    tx.defer(REMOVE, [accountId, userId]);
  }

  /** Replaces an earlier one of the same member. */
  putInvitation(
    tx: Tx,
    invitation: { accountId: string; userId: string; tokenHash: Buffer; expiresAt: Date; createdAt: Date },
  ): void {
    tx.defer(PUT_INVITATION, [
      invitation.accountId,
      invitation.userId,
      invitation.tokenHash,
      invitation.expiresAt,
      invitation.createdAt,
    ]);
  }

  /** Ends the invitation: of two at once one gets it. */
  async takeInvitation(tx: Tx, tokenHash: Buffer, now: Date): Promise<{ accountId: string; userId: string } | null> {
    const [row] = await tx.query<{ account_id: string; user_id: string }>(TAKE_INVITATION, [tokenHash, now]);
    return row ? { accountId: row.account_id, userId: row.user_id } : null;
  }
}
