import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idRange } from '../core/ids.js';
import type { Amount } from '../core/money/index.js';

/** `shadow` records what it would have refused. */
export type FraudMode = 'enforce' | 'shadow' | 'off';

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
  /** Debited with a cashout refund when the merchant takes the fee on itself. */
  readonly pixOutFee: Amount;
  /** Whether it is told by webhook how its MED cases end. */
  readonly medOutcomeNotifications: boolean;
  readonly fraudMode: FraudMode;
  /** Charges a minute for one customer document. */
  readonly fraudVelocity: number;
  /** The maximum ticket; null for none. */
  readonly fraudMaxAmount: Amount | null;
  /** Whether there is a block list: it may be long, and every request reads the account, so it is not part of it. */
  readonly blocksDocuments: boolean;
  /** Name of the acquirer of its new live charges; null while there is none. */
  readonly liveAcquirer: string | null;
}

/** With what only operators look at. */
export interface AccountDetails extends Account {
  readonly fraudBlockedDocuments: readonly string[];
  readonly createdAt: Date;
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
  pix_out_fee: Amount;
  med_outcome_notifications: boolean;
  fraud_mode: FraudMode;
  fraud_velocity: number;
  fraud_max_amount: Amount | null;
  blocks_documents: boolean;
  live_acquirer: string | null;
}

/**
 * The select list for an account joined under the alias `a`. The key guard, settlement and reviews join it to
 * save a round trip; they read it only through this list and `toAccount`.
 */
export const ACCOUNT_COLUMNS = `a.id AS account_id, a.name AS account_name, a.contact_email, a.city, a.fee_bps,
  a.fee_fixed, a.release_days, a.payer_lock, a.default_expires_in, a.pix_out_fee, a.med_outcome_notifications, a.fraud_mode, a.fraud_velocity,
  a.fraud_max_amount, a.fraud_blocked_documents <> '{}' AS blocks_documents, a.live_acquirer`;

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
    pixOutFee: row.pix_out_fee,
    medOutcomeNotifications: row.med_outcome_notifications,
    fraudMode: row.fraud_mode,
    fraudVelocity: row.fraud_velocity,
    fraudMaxAmount: row.fraud_max_amount,
    blocksDocuments: row.blocks_documents,
    liveAcquirer: row.live_acquirer,
  };
}

interface DetailsRow extends AccountRow {
  fraud_blocked_documents: string[];
  created_at: Date;
}

function toDetails(row: DetailsRow): AccountDetails {
  return { ...toAccount(row), fraudBlockedDocuments: row.fraud_blocked_documents, createdAt: row.created_at };
}

const FIND = statement('accounts.find', `SELECT ${ACCOUNT_COLUMNS} FROM accounts a WHERE a.id = $1`);
const DETAILS = `${ACCOUNT_COLUMNS}, a.fraud_blocked_documents, a.created_at`;
const FIND_DETAILS = statement('accounts.find_details', `SELECT ${DETAILS} FROM accounts a WHERE a.id = $1`);
const LOCK = statement('accounts.lock', `SELECT ${DETAILS} FROM accounts a WHERE a.id = $1 FOR UPDATE`);
const LIST = statement(
  'accounts.list',
  `SELECT ${DETAILS} FROM accounts a
   WHERE a.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND a.id >= $2::uuid AND a.id <= $3::uuid
   ORDER BY a.id DESC LIMIT $4`,
);
const BLOCKS = statement(
  'accounts.blocks_document',
  'SELECT $2::text = ANY (fraud_blocked_documents) AS blocked FROM accounts WHERE id = $1',
);
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
     default_expires_in = coalesce($9, default_expires_in), fraud_mode = coalesce($10, fraud_mode),
     fraud_velocity = coalesce($11, fraud_velocity),
     -- 0 stands for no limit here: null already stands for no change.
     fraud_max_amount = nullif(coalesce($12::bigint, fraud_max_amount), 0),
     fraud_blocked_documents = coalesce($13, fraud_blocked_documents), pix_out_fee = coalesce($14, pix_out_fee),
     med_outcome_notifications = coalesce($15, med_outcome_notifications)
   WHERE a.id = $1 RETURNING ${ACCOUNT_COLUMNS}`,
);
const SET_LIVE_ACQUIRER = statement(
  'accounts.set_live_acquirer',
  'UPDATE accounts SET live_acquirer = $2 WHERE id = $1',
);

/** What is not named keeps its value. */
export type AccountChanges = Partial<Omit<AccountDetails, 'id' | 'blocksDocuments' | 'liveAcquirer' | 'createdAt'>>;

@Injectable()
export class AccountsRepository {
  constructor(private readonly reader: Reader) {}

  async find(id: string): Promise<Account | null> {
    const [row] = await this.reader.query<AccountRow>(FIND, [id]);
    return row ? toAccount(row) : null;
  }

  async findDetails(id: string): Promise<AccountDetails | null> {
    const [row] = await this.reader.query<DetailsRow>(FIND_DETAILS, [id]);
    return row ? toDetails(row) : null;
  }

  /** Newest first. */
  async list({ before, createdFrom, createdTo, limit }: IdCursorFilter): Promise<AccountDetails[]> {
    const rows = await this.reader.query<DetailsRow>(LIST, [before, ...idRange(createdFrom, createdTo), limit]);
    return rows.map(toDetails);
  }

  async blocksDocument(id: string, document: string): Promise<boolean> {
    const [row] = await this.reader.query<{ blocked: boolean }>(BLOCKS, [id, document]);
    return row?.blocked === true;
  }

  async isEmpty(): Promise<boolean> {
    const [row] = await this.reader.query<{ count: number }>(COUNT, []);
    return row?.count === 0;
  }

  insert(tx: Tx, account: { id: string; name: string; contactEmail: string; createdAt: Date }): void {
    tx.defer(INSERT, [account.id, account.name, account.contactEmail, account.createdAt]);
  }

  async lock(tx: Tx, id: string): Promise<AccountDetails | null> {
    const [row] = await tx.query<DetailsRow>(LOCK, [id]);
    return row ? toDetails(row) : null;
  }

  setLiveAcquirer(tx: Tx, id: string, acquirer: string | null): void {
    tx.defer(SET_LIVE_ACQUIRER, [id, acquirer]);
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
      changes.fraudMode,
      changes.fraudVelocity,
      changes.fraudMaxAmount === null ? 0 : changes.fraudMaxAmount,
      changes.fraudBlockedDocuments,
      changes.pixOutFee,
      changes.medOutcomeNotifications,
    ]);
    return row ? toAccount(row) : null;
  }
}
