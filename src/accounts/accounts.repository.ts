import { Injectable } from '@nestjs/common';
import { columnsOf, Reader, read, write, type Tx } from '../core/database/index.js';
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
const UPDATE = write(
  'accounts.update',
  `UPDATE accounts AS a SET name = coalesce($2, name), contact_email = coalesce($3, contact_email),
     city = coalesce($4, city), fee_bps = coalesce($5, fee_bps), fee_fixed = coalesce($6, fee_fixed),
     release_days = coalesce($7, release_days), payer_lock = coalesce($8, payer_lock),
     default_expires_in = coalesce($9, default_expires_in), fraud_mode = coalesce($10, fraud_mode),
     fraud_velocity = coalesce($11, fraud_velocity),
     -- 0 stands for no limit here: null already stands for no change.
     fraud_max_amount = nullif(coalesce($12::bigint, fraud_max_amount), 0),
     fraud_blocked_documents = coalesce($13, fraud_blocked_documents), pix_out_fee = coalesce($14, pix_out_fee),
     med_outcome_notifications = coalesce($15, med_outcome_notifications), suspended = coalesce($16, suspended),
     payer_receipts = coalesce($17, payer_receipts),
     -- An empty text stands for none.
     accent = nullif(coalesce($18, accent), ''), logo = nullif(coalesce($19, logo), ''),
     negative_notice_days = coalesce($20, negative_notice_days), reserve_bps = coalesce($21, reserve_bps),
     reserve_days = coalesce($22, reserve_days)
   WHERE a.id = $1 RETURNING ${COLUMNS}`,
);
const SET_LIVE_ACQUIRER = write('accounts.set_live_acquirer', 'UPDATE accounts SET live_acquirer = $2 WHERE id = $1');

/** Which accounts somebody looks for. */
export interface AccountFilter extends IdCursorFilter {
  /** An id, or a part of a name or e-mail; null for all. */
  readonly query: string | null;
}

/** What is not named keeps its value. */
export type AccountChanges = Partial<Omit<AccountEntity, 'id' | 'blocksDocuments' | 'liveAcquirer' | 'createdAt'>>;

@Injectable()
export class AccountsRepository {
  constructor(private readonly reader: Reader) {}

  /** @param tx for who has a transaction open: another connection beside it would wait for others who wait likewise */
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

  async blocksDocument(id: string, document: string): Promise<boolean> {
    const [row] = await this.reader.query<{ blocked: boolean }>(BLOCKS, [id, document]);
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

  async update(tx: Tx, id: string, changes: AccountChanges): Promise<Account | null> {
    return tx.first<Account>(UPDATE, [
      id,
      changes.name,
      changes.contactEmail,
      changes.city,
      changes.feeBps,
      changes.feeFixed,
      changes.releaseDays,
      changes.payerLock,
      changes.defaultExpiresIn,
      changes.fraudMode,
      changes.fraudVelocity,
      changes.fraudMaxAmount === null ? 0 : changes.fraudMaxAmount,
      changes.fraudBlockedDocuments,
      changes.pixOutFee,
      changes.medOutcomeNotifications,
      changes.suspended,
      changes.payerReceipts,
      changes.accent,
      changes.logo,
      changes.negativeNoticeDays,
      changes.reserveBps,
      changes.reserveDays,
    ]);
  }
}
