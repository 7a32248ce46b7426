import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, Reader, read, write, type Tx } from '../core/database/index.js';
import { type Role, UserEntity } from './account.entity.js';

/** A null password hash: an invited user, who chooses a password later. */
export type NewUser = Readonly<Omit<UserEntity, 'sessionsFrom'>>;

/** What a login needs; `membership` is the account that the user joined first. */
export interface LoginUser extends Readonly<Omit<UserEntity, 'createdAt'>> {
  readonly membership: {
    readonly accountId: string;
    readonly accountName: string;
    readonly role: Role;
    readonly createdAt: Date;
  } | null;
}

export interface KnownUser {
  readonly id: string;
  readonly operator: boolean;
  /** Has a password. */
  readonly active: boolean;
}

const INSERT = insertInto('users.insert', UserEntity, { without: ['sessionsFrom'] });
const RENEW = write('users.renew', 'UPDATE users SET name = $2, password_hash = $3, operator = $4 WHERE id = $1');
const SET_PASSWORD = write('users.set_password', 'UPDATE users SET password_hash = $2 WHERE id = $1');
const REHASH = write('users.rehash', 'UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2');
const RENAME = write('users.rename', 'UPDATE users SET name = $2 WHERE id = $1');
const DISMISS = write('users.dismiss', 'UPDATE users SET operator = false, password_hash = NULL WHERE id = $1');
const END_SESSIONS = write(
  'users.end_sessions',
  'UPDATE users SET sessions_from = greatest(sessions_from, $2) WHERE id = $1',
);
const EMAILS = read('users.emails', 'SELECT id, email FROM users WHERE id = ANY ($1)');
const FIND_LOGIN = read(
  'users.find_login',
  `SELECT ${columnsOf(UserEntity, 'u', { without: ['createdAt'] })}, m.account_id AS "membership.accountId",
     a.name AS "membership.accountName", m.role AS "membership.role", m.created_at AS "membership.createdAt"
   FROM users u
   LEFT JOIN LATERAL (
     SELECT account_id, role, created_at FROM members WHERE user_id = u.id ORDER BY created_at, account_id LIMIT 1
   ) m ON true
   LEFT JOIN accounts a ON a.id = m.account_id
   WHERE u.email = $1`,
);
const LOCK_BY_EMAIL = write(
  'users.lock_by_email',
  'SELECT id, operator, password_hash IS NOT NULL AS active FROM users WHERE email = $1 FOR UPDATE',
);

@Injectable()
export class UsersRepository {
  constructor(private readonly reader: Reader) {}

  /** An e-mail that somebody has fails the transaction: unique violation of `users_email_key`. */
  insert(tx: Tx, user: NewUser): void {
    tx.defer(INSERT, INSERT.valuesOf(user));
  }

  /** Another life of a user who is nobody now. */
  renew(tx: Tx, id: string, user: Pick<NewUser, 'name' | 'passwordHash' | 'operator'>): void {
    tx.defer(RENEW, [id, user.name, user.passwordHash, user.operator]);
  }

  setPassword(tx: Tx, id: string, passwordHash: string): void {
    tx.defer(SET_PASSWORD, [id, passwordHash]);
  }

  /** Nothing happens when the password was changed meanwhile. */
  rehash(tx: Tx, id: string, oldHash: string, newHash: string): void {
    tx.defer(REHASH, [id, oldHash, newHash]);
  }

  rename(tx: Tx, id: string, name: string): void {
    tx.defer(RENAME, [id, name]);
  }

  /** No operator any more, and without a password. */
  dismiss(tx: Tx, id: string): void {
    tx.defer(DISMISS, [id]);
  }

  /** Never takes an earlier end back. */
  endSessions(tx: Tx, id: string, before: Date): void {
    tx.defer(END_SESSIONS, [id, before]);
  }

  async emails(ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.reader.query<{ id: string; email: string }>(EMAILS, [ids]);
    return new Map(rows.map((row) => [row.id, row.email]));
  }

  async findLogin(email: string): Promise<LoginUser | null> {
    type Row = LoginUser & { membership: { accountId: string | null } };
    const [row] = await this.reader.query<Row>(FIND_LOGIN, [email]);
    if (!row) return null;
    return row.membership.accountId === null ? { ...row, membership: null } : row;
  }

  async lockByEmail(tx: Tx, email: string): Promise<KnownUser | null> {
    const [row] = await tx.query<KnownUser>(LOCK_BY_EMAIL, [email]);
    return row ?? null;
  }
}
