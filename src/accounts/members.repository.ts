import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';

export type Role = 'OWNER' | 'ADMIN' | 'MEMBER';

export interface NewUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** Null for an invited user, who chooses a password later. */
  readonly passwordHash: string | null;
  readonly operator: boolean;
  readonly createdAt: Date;
}

export interface Member {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** Has a password: an invited member has none yet. */
  readonly active: boolean;
  readonly createdAt: Date;
}

/** What a login needs; `membership` is the account that the user joined first. */
export interface LoginUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly operator: boolean;
  readonly membership: { readonly accountId: string; readonly accountName: string; readonly role: Role } | null;
}

/** A user with this e-mail, and whether it is somebody already. */
export interface KnownUser {
  readonly id: string;
  readonly operator: boolean;
  readonly membership: { readonly accountId: string; readonly active: boolean } | null;
}

const INSERT_USER = statement(
  'users.insert',
  'INSERT INTO users (id, email, name, password_hash, operator, created_at) VALUES ($1, $2, $3, $4, $5, $6)',
);
const SET_PASSWORD = statement('users.set_password', 'UPDATE users SET password_hash = $2 WHERE id = $1');
const RENAME_USER = statement('users.rename', 'UPDATE users SET name = $2 WHERE id = $1');
const EMAILS = statement('users.emails', 'SELECT id, email FROM users WHERE id = ANY ($1)');
const FIND_LOGIN = statement(
  'users.find_login',
  `SELECT u.id, u.email, u.name, u.password_hash, u.operator, m.account_id, m.role, a.name AS account_name
   FROM users u
   LEFT JOIN LATERAL (
     SELECT account_id, role FROM members WHERE user_id = u.id ORDER BY created_at, account_id LIMIT 1
   ) m ON true
   LEFT JOIN accounts a ON a.id = m.account_id
   WHERE u.email = $1`,
);
const LOCK_BY_EMAIL = statement(
  'users.lock_by_email',
  `SELECT u.id, u.operator, m.account_id, u.password_hash IS NOT NULL AS active
   FROM users u LEFT JOIN members m ON m.user_id = u.id WHERE u.email = $1 FOR UPDATE OF u`,
);
const INSERT_MEMBER = statement(
  'members.insert',
  'INSERT INTO members (account_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)',
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

/** Users, what they are in an account, and invitations that wait. */
@Injectable()
export class MembersRepository {
  constructor(private readonly reader: Reader) {}

  insertUser(tx: Tx, user: NewUser): void {
    tx.defer(INSERT_USER, [user.id, user.email, user.name, user.passwordHash, user.operator, user.createdAt]);
  }

  setPassword(tx: Tx, userId: string, passwordHash: string | null): void {
    tx.defer(SET_PASSWORD, [userId, passwordHash]);
  }

  rename(tx: Tx, userId: string, name: string): void {
    tx.defer(RENAME_USER, [userId, name]);
  }

  async emails(userIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.reader.query<{ id: string; email: string }>(EMAILS, [userIds]);
    return new Map(rows.map((row) => [row.id, row.email]));
  }

  async findLogin(email: string): Promise<LoginUser | null> {
    const [row] = await this.reader.query<{
      id: string;
      email: string;
      name: string;
      password_hash: string | null;
      operator: boolean;
      account_id: string | null;
      account_name: string;
      role: Role;
    }>(FIND_LOGIN, [email]);
    if (!row) return null;
    return {
      id: row.id,
      email: row.email,
      name: row.name,
      passwordHash: row.password_hash,
      operator: row.operator,
      membership:
        row.account_id === null ? null : { accountId: row.account_id, accountName: row.account_name, role: row.role },
    };
  }

  async lockByEmail(tx: Tx, email: string): Promise<KnownUser | null> {
    const [row] = await tx.query<{ id: string; operator: boolean; account_id: string | null; active: boolean }>(
      LOCK_BY_EMAIL,
      [email],
    );
    if (!row) return null;
    return {
      id: row.id,
      operator: row.operator,
      membership: row.account_id === null ? null : { accountId: row.account_id, active: row.active },
    };
  }

  insert(tx: Tx, member: { accountId: string; userId: string; role: Role; createdAt: Date }): void {
    tx.defer(INSERT_MEMBER, [member.accountId, member.userId, member.role, member.createdAt]);
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
