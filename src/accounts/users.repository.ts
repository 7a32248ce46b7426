import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, Reader, read, write, type Tx } from '../core/database/index.js';
import { PasswordResetEntity } from './password-reset.entity.js';
import type { Role } from './role.js';
import { UserEntity } from './user.entity.js';

const WITHOUT_FACTOR = ['totpSecretSealed', 'totpConfirmedAt', 'totpStep', 'recoveryCodeHashes', 'warnedAt'] as const;

export type NewUser = Readonly<Omit<UserEntity, (typeof WITHOUT_FACTOR)[number]>>;

/** A user with the data a login needs; `membership` is the account that the user joined first. */
export interface LoginUser extends Readonly<Omit<UserEntity, 'createdAt'>> {
  readonly membership: {
    readonly accountId: string;
    readonly accountName: string;
    readonly role: Role;
    readonly createdAt: Date;
  } | null;
}

const FORGET_FACTOR =
  "totp_secret_sealed = NULL, totp_confirmed_at = NULL, totp_step = NULL, recovery_code_hashes = '{}'";
const INSERT = insertInto('users.insert', UserEntity, { without: [...WITHOUT_FACTOR] });
const RENEW = write(
  'users.renew',
  `UPDATE users SET name = $2, password_hash = $3, operator = $4, ${FORGET_FACTOR} WHERE id = $1`,
);
const RENAME = write('users.rename', 'UPDATE users SET name = $2 WHERE id = $1');
const SET_PASSWORD = write('users.set_password', 'UPDATE users SET password_hash = $2 WHERE id = $1');
const REHASH = write('users.rehash', 'UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2');
const DISMISS = write(
  'users.dismiss',
  `UPDATE users SET operator = false, password_hash = NULL, ${FORGET_FACTOR} WHERE id = $1`,
);
const EMAILS = read('users.emails', 'SELECT id, email FROM users WHERE id = ANY ($1)');
const NAMES = read('users.names', 'SELECT id, coalesce(name, email) AS name FROM users WHERE id = ANY ($1)');
const OPERATOR_EMAILS = read('users.operator_emails', 'SELECT id, email FROM users WHERE operator ORDER BY id');
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
const USER = columnsOf(UserEntity, 'u');
const FIND = read('users.find', `SELECT ${USER} FROM users u WHERE u.id = $1`);
const LOCK = write('users.lock', `SELECT ${USER} FROM users u WHERE u.id = $1 FOR UPDATE`);
const LOCK_BY_EMAIL = write('users.lock_by_email', `SELECT ${USER} FROM users u WHERE u.email = $1 FOR UPDATE`);
const SET_TOTP = write(
  'users.set_totp',
  `UPDATE users SET totp_secret_sealed = $2, totp_confirmed_at = $3, totp_step = $4, recovery_code_hashes = $5
   WHERE id = $1`,
);
const WARN = write(
  'users.warn',
  'UPDATE users SET warned_at = $2 WHERE id = $1 AND (warned_at IS NULL OR warned_at <= $3) RETURNING email',
);
/** Replaces an earlier reset of the user. */
const PUT_RESET = insertInto('password_resets.put', PasswordResetEntity, {
  after: 'ON CONFLICT (user_id) DO UPDATE SET token_hash = excluded.token_hash, expires_at = excluded.expires_at',
});
const FIND_RESET = read(
  'password_resets.find',
  'SELECT user_id AS "userId" FROM password_resets WHERE token_hash = $1 AND expires_at > $2',
);
const TAKE_RESET = write(
  'password_resets.take',
  'DELETE FROM password_resets WHERE token_hash = $1 AND user_id = $2 AND expires_at > $3 RETURNING 1',
);
const END_RESET = write('password_resets.end', 'DELETE FROM password_resets WHERE user_id = $1');

/** State that decides whether a login needs a code, and which. */
export type SecondFactorState = Pick<
  UserEntity,
  'totpSecretSealed' | 'totpConfirmedAt' | 'totpStep' | 'recoveryCodeHashes'
>;

@Injectable()
export class UsersRepository {
  constructor(private readonly reader: Reader) {}

  /** Inserts a user. If the e-mail is taken, the transaction fails: unique violation of `users_email_key`. */
  insert(tx: Tx, user: NewUser): void {
    tx.defer(INSERT, INSERT.valuesOf(user));
  }

  /** Gives a removed user a login again. */
  renew(tx: Tx, id: string, user: Pick<NewUser, 'name' | 'passwordHash' | 'operator'>): void {
    tx.defer(RENEW, [id, user.name, user.passwordHash, user.operator]);
  }

  setPassword(tx: Tx, id: string, passwordHash: string): void {
    tx.defer(SET_PASSWORD, [id, passwordHash]);
  }

  /** Replaces the hash, unless the password was changed meanwhile. */
  rehash(tx: Tx, id: string, oldHash: string, newHash: string): void {
    tx.defer(REHASH, [id, oldHash, newHash]);
  }

  rename(tx: Tx, id: string, name: string): void {
    tx.defer(RENAME, [id, name]);
  }

  /** Removes the operator's rights and the password. */
  dismiss(tx: Tx, id: string): void {
    tx.defer(DISMISS, [id]);
  }

  async emails(ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.reader.query<{ id: string; email: string }>(EMAILS, [ids]);
    return new Map(rows.map((row) => [row.id, row.email]));
  }

  /** The e-mail stands for a missing name. */
  async names(ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.reader.query<{ id: string; name: string }>(NAMES, [ids]);
    return new Map(rows.map((row) => [row.id, row.name]));
  }

  async operatorEmails(): Promise<string[]> {
    const rows = await this.reader.query<{ email: string }>(OPERATOR_EMAILS, []);
    return rows.map((row) => row.email);
  }

  async findLogin(email: string): Promise<LoginUser | null> {
    type Row = LoginUser & { membership: { accountId: string | null } };
    const [row] = await this.reader.query<Row>(FIND_LOGIN, [email]);
    if (!row) return null;
    return row.membership.accountId === null ? { ...row, membership: null } : row;
  }

  async find(id: string): Promise<UserEntity | null> {
    return this.reader.first<UserEntity>(FIND, [id]);
  }

  async lock(tx: Tx, id: string): Promise<UserEntity | null> {
    return tx.first<UserEntity>(LOCK, [id]);
  }

  async lockByEmail(tx: Tx, email: string): Promise<UserEntity | null> {
    return tx.first<UserEntity>(LOCK_BY_EMAIL, [email]);
  }

  /** Call this under the lock of the user. */
  setSecondFactor(tx: Tx, id: string, state: SecondFactorState): void {
    const { totpSecretSealed, totpConfirmedAt, totpStep, recoveryCodeHashes } = state;
    tx.defer(SET_TOTP, [id, totpSecretSealed, totpConfirmedAt, totpStep, recoveryCodeHashes]);
  }

  /** @returns the e-mail to warn, or null when it was warned after `before` */
  async warn(tx: Tx, id: string, now: Date, before: Date): Promise<string | null> {
    const [row] = await tx.query<{ email: string }>(WARN, [id, now, before]);
    return row?.email ?? null;
  }

  putReset(tx: Tx, reset: PasswordResetEntity): void {
    tx.defer(PUT_RESET, PUT_RESET.valuesOf(reset));
  }

  async findReset(tokenHash: Buffer, now: Date): Promise<{ userId: string } | null> {
    return this.reader.first<{ userId: string }>(FIND_RESET, [tokenHash, now]);
  }

  /** @returns whether it was still there: only one of two calls at once gets it */
  async takeReset(tx: Tx, tokenHash: Buffer, userId: string, now: Date): Promise<boolean> {
    return (await tx.query(TAKE_RESET, [tokenHash, userId, now])).length > 0;
  }

  /** Ends an open reset: after a change, an older mail must not change the password again. */
  endReset(tx: Tx, userId: string): void {
    tx.defer(END_RESET, [userId]);
  }
}
