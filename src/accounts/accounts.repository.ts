import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { Amount } from '../core/money/index.js';

export type Role = 'OWNER' | 'ADMIN' | 'MEMBER';

/** A merchant and its settings. Fees in basis points and cents, times in days and seconds. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly contactEmail: string;
  readonly city: string;
  readonly feeBps: number;
  readonly feeFixed: Amount;
  readonly releaseDays: number;
  readonly payerLock: boolean;
  readonly defaultExpiresIn: number;
}

export interface AccountRow {
  account_id: string;
  account_name: string;
  contact_email: string;
  city: string;
  fee_bps: number;
  fee_fixed: number;
  release_days: number;
  payer_lock: boolean;
  default_expires_in: number;
}

/**
 * The select list for an account joined under the alias `a`. Two hot paths (the key guard and settlement) join it to
 * save a round trip; they read it only through this list and `toAccount`.
 */
export const ACCOUNT_COLUMNS =
  'a.id AS account_id, a.name AS account_name, a.contact_email, a.city, a.fee_bps, a.fee_fixed, a.release_days, a.payer_lock, a.default_expires_in';

export function toAccount(row: AccountRow): Account {
  return {
    id: row.account_id,
    name: row.account_name,
    contactEmail: row.contact_email,
    city: row.city,
    feeBps: row.fee_bps,
    feeFixed: row.fee_fixed,
    releaseDays: row.release_days,
    payerLock: row.payer_lock,
    defaultExpiresIn: row.default_expires_in,
  };
}

const FIND = statement('accounts.find', `SELECT ${ACCOUNT_COLUMNS} FROM accounts a WHERE a.id = $1`);
const COUNT = statement('accounts.count', 'SELECT count(*) AS count FROM (SELECT 1 FROM accounts LIMIT 1) one');
const INSERT = statement(
  'accounts.insert',
  `INSERT INTO accounts AS a (id, name, contact_email, created_at) VALUES ($1, $2, $3, $4) RETURNING ${ACCOUNT_COLUMNS}`,
);
const UPDATE = statement(
  'accounts.update',
  `UPDATE accounts AS a SET name = coalesce($2, name), contact_email = coalesce($3, contact_email),
     city = coalesce($4, city), fee_bps = coalesce($5, fee_bps), fee_fixed = coalesce($6, fee_fixed),
     release_days = coalesce($7, release_days), payer_lock = coalesce($8, payer_lock),
     default_expires_in = coalesce($9, default_expires_in)
   WHERE a.id = $1 RETURNING ${ACCOUNT_COLUMNS}`,
);
const INSERT_USER = statement(
  'users.insert',
  'INSERT INTO users (id, email, name, password_hash, operator, created_at) VALUES ($1, $2, $3, $4, $5, $6)',
);
const INSERT_MEMBER = statement(
  'members.insert',
  'INSERT INTO members (account_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)',
);

export type AccountChanges = Partial<Omit<Account, 'id'>>;

@Injectable()
export class AccountsRepository {
  constructor(private readonly reader: Reader) {}

  async find(id: string): Promise<Account | null> {
    const [row] = await this.reader.query<AccountRow>(FIND, [id]);
    return row ? toAccount(row) : null;
  }

  async isEmpty(): Promise<boolean> {
    const [row] = await this.reader.query<{ count: number }>(COUNT, []);
    return row?.count === 0;
  }

  insert(tx: Tx, account: { id: string; name: string; contactEmail: string; createdAt: Date }): void {
    tx.defer(INSERT, [account.id, account.name, account.contactEmail, account.createdAt]);
  }

  async update(tx: Tx, id: string, changes: AccountChanges): Promise<Account | null> {
    const [row] = await tx.query<AccountRow>(UPDATE, [
      id,
      changes.name,
      changes.contactEmail,
      changes.city,
      changes.feeBps,
      changes.feeFixed,
      changes.releaseDays,
      changes.payerLock,
      changes.defaultExpiresIn,
    ]);
    return row ? toAccount(row) : null;
  }

  insertUser(
    tx: Tx,
    user: { id: string; email: string; name: string; passwordHash: string; operator: boolean; createdAt: Date },
  ): void {
    tx.defer(INSERT_USER, [user.id, user.email, user.name, user.passwordHash, user.operator, user.createdAt]);
  }

  insertMember(tx: Tx, member: { accountId: string; userId: string; role: Role; createdAt: Date }): void {
    tx.defer(INSERT_MEMBER, [member.accountId, member.userId, member.role, member.createdAt]);
  }
}
