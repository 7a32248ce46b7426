import { Injectable } from '@nestjs/common';
import { columnsOf, Reader, read, type Tx, updateOf, write } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idRange } from '../core/ids.js';
import { Account, AccountEntity } from './account.entity.js';

const COLUMNS = columnsOf(Account, 'a');
const FIND = read('accounts.find', `SELECT ${COLUMNS} FROM accounts a WHERE a.id = $1`);
const DETAILS = columnsOf(AccountEntity, 'a');
const FIND_DETAILS = read('accounts.find_details', `SELECT ${DETAILS} FROM accounts a WHERE a.id = $1`);
const LOCK = write('accounts.lock', `SELECT ${DETAILS} FROM accounts a WHERE a.id = $1 FOR UPDATE`);
const LIST = read(
  'accounts.list',
  `SELECT ${DETAILS} FROM accounts a
   WHERE a.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND a.id >= $2::uuid AND a.id <= $3::uuid
     AND ($5::text IS NULL OR a.id::text = lower($5)
       OR position(lower($5) IN lower(a.name)) > 0 OR position(lower($5) IN lower(a.contact_email)) > 0)
   ORDER BY a.id DESC LIMIT $4`,
);
const BLOCKS = read(
  'accounts.blocks_document',
  'SELECT $2::text = ANY (fraud_blocked_documents) AS blocked FROM accounts WHERE id = $1',
);
const COUNT = read('accounts.count', 'SELECT count(*) AS count FROM (SELECT 1 FROM accounts LIMIT 1) one');
const INSERT = write(
  'accounts.insert',
  'INSERT INTO accounts (id, name, contact_email, created_at) VALUES ($1, $2, $3, $4)',
);
/** Columns that are no settings of staff. */
const NO_SETTINGS = [
  'id',
  'blocksDocuments',
  'liveAcquirer',
  'payoutScheduleAfter',
  'payoutScheduleBy',
  'monthlyClosingAfter',
  'createdAt',
] as const;
const UPDATE = updateOf('accounts.update', AccountEntity, {
  without: NO_SETTINGS,
  first: 2,
  after: 'WHERE id = $1',
});
const SET_PAYOUT_SCHEDULE_AFTER = write(
  'accounts.set_payout_schedule_after',
  'UPDATE accounts SET payout_schedule_after = $2 WHERE id = $1',
);
const BEGIN_PAYOUT_SCHEDULE = write(
  'accounts.begin_payout_schedule',
  'UPDATE accounts SET payout_schedule_after = $2, payout_schedule_by = $3 WHERE id = $1',
);
const SET_MONTHLY_CLOSING_AFTER = write(
  'accounts.set_monthly_closing_after',
  'UPDATE accounts SET monthly_closing_after = $2 WHERE id = $1',
);
const SET_LIVE_ACQUIRER = write('accounts.set_live_acquirer', 'UPDATE accounts SET live_acquirer = $2 WHERE id = $1');

/** Filter of a list of accounts. */
export interface AccountFilter extends IdCursorFilter {
  /** An id, or a part of a name or e-mail; null for all. */
  readonly query: string | null;
}

/** Changes of an account; settings left out keep their value. */
export type AccountChanges = Partial<Omit<AccountEntity, (typeof NO_SETTINGS)[number]>>;

@Injectable()
export class AccountsRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * @param tx for callers with an open transaction: with a second connection each, such callers could all wait for one
   *   another
   */
  async find(id: string, tx?: Tx): Promise<Account | null> {
    return (tx ?? this.reader).first<Account>(FIND, [id]);
  }

  async findDetails(id: string): Promise<AccountEntity | null> {
    return this.reader.first<AccountEntity>(FIND_DETAILS, [id]);
  }

  /** Newest first. */
  async list({ before, createdFrom, createdTo, limit, query }: AccountFilter): Promise<AccountEntity[]> {
    return this.reader.query(LIST, [before, ...idRange(createdFrom, createdTo), limit, query]);
  }

  async blocksDocument(id: string, document: string, tx?: Tx): Promise<boolean> {
    const [row] = await (tx ?? this.reader).query<{ blocked: boolean }>(BLOCKS, [id, document]);
    return row?.blocked === true;
  }

  async isEmpty(): Promise<boolean> {
    const [row] = await this.reader.query<{ count: number }>(COUNT, []);
    return row?.count === 0;
  }

  insert(tx: Tx, account: Pick<AccountEntity, 'id' | 'name' | 'contactEmail' | 'createdAt'>): void {
    tx.defer(INSERT, [account.id, account.name, account.contactEmail, account.createdAt]);
  }

  async lock(tx: Tx, id: string): Promise<AccountEntity | null> {
    return tx.first<AccountEntity>(LOCK, [id]);
  }

  setLiveAcquirer(tx: Tx, id: string, acquirer: string | null): void {
    tx.defer(SET_LIVE_ACQUIRER, [id, acquirer]);
  }

  setPayoutScheduleAfter(tx: Tx, id: string, after: Date): void {
    tx.defer(SET_PAYOUT_SCHEDULE_AFTER, [id, after]);
  }

  beginPayoutSchedule(tx: Tx, id: string, after: Date, by: string | null): void {
    tx.defer(BEGIN_PAYOUT_SCHEDULE, [id, after, by]);
  }

  setMonthlyClosingAfter(tx: Tx, id: string, after: Date): void {
    tx.defer(SET_MONTHLY_CLOSING_AFTER, [id, after]);
  }

  /** The caller holds the account's lock. */
  update(tx: Tx, account: AccountEntity): void {
    tx.defer(UPDATE, [account.id, ...UPDATE.valuesOf(account)]);
  }
}
