import { Injectable } from '@nestjs/common';
import { Account } from '../accounts/index.js';
import type { Artefacts, PaymentMethod } from '../acquirers/index.js';
import {
  columnsOf,
  insertInto,
  oneOf,
  queryRow,
  read,
  Reader,
  rowQuery,
  type Tx,
  wanted,
  write,
  writeRow,
} from '../core/database/index.js';
import { isUuid } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { TAKEN_FIELDS } from './taken.js';
import { type Failure, Transaction, TransactionEntity } from './transaction.entity.js';
import { MOVES, type Trigger } from './transactions.machine.js';

/** The select list of a transaction under the alias `t`. */
export const TRANSACTION_COLUMNS = columnsOf(Transaction, 't');

/** The fields of `Taken` under the alias `t`. */
export const TAKEN_COLUMNS = columnsOf(TransactionEntity, 't', { only: TAKEN_FIELDS });

const WITH_ACCOUNT = `${columnsOf(Transaction, 't', { within: 'transaction' })}, ${columnsOf(Account, 'a', { within: 'account' })}`;

const INSERT = insertInto('transactions.insert', TransactionEntity, {
  // Columns that are filled later, or have a default.
  without: [
    ...(['paidWith', 'artefacts', 'endToEndId', 'providerFee', 'platformFee', 'netAmount', 'paidAt'] as const),
    ...(['failure', 'med', 'returns', 'expiryAskAt', 'expiryAskedAt', 'expiryFirstAskedAt'] as const),
    ...TAKEN_FIELDS,
  ],
});
const FIND = oneOf(
  read(
    'transactions.find',
    `SELECT ${TRANSACTION_COLUMNS} FROM transactions t WHERE t.id = $1 AND t.account_id = $2 AND t.mode = $3`,
  ),
  ...['uuid', 'uuid', 'text'],
);
const FIND_PUBLIC = oneOf(
  read('transactions.find_public', `SELECT ${TRANSACTION_COLUMNS} FROM transactions t WHERE t.id = $1`),
  'uuid',
);
const LOCK_BY_TXID = oneOf(
  write(
    'transactions.lock_by_txid',
    `SELECT ${WITH_ACCOUNT} FROM transactions t JOIN accounts a ON a.id = t.account_id
     WHERE t.txid = $1 AND t.acquirer = $2 FOR UPDATE OF t`,
  ),
  ...['text', 'text'],
);
const LOCK_WITH_ACCOUNT = write(
  'transactions.lock_with_account',
  `SELECT ${WITH_ACCOUNT} FROM transactions t JOIN accounts a ON a.id = t.account_id
   WHERE t.id = $1 FOR UPDATE OF t`,
);
/** Columns that a move does not name keep their value. `$3` is an array as text. */
const MOVE = rowQuery(
  write(
    'transactions.move',
    `UPDATE transactions t SET ${moved((place) => `$${place}`)}
     WHERE t.id = $1 AND t.status = ANY ($3::text::text[]) RETURNING ${TRANSACTION_COLUMNS}`,
  ),
  write(
    'transactions.move_each',
    `UPDATE transactions t SET ${moved((place) => `w.p${place}`)}
     FROM ${wanted([...['uuid', 'text', 'text', 'timestamptz', 'text', 'text', 'text', 'bigint'], ...['bigint', 'bigint', 'timestamptz', 'jsonb']])}
     WHERE t.id = w.p1 AND t.status = ANY (w.p3::text[]) RETURNING w.n AS "#", ${TRANSACTION_COLUMNS}`,
  ),
);
/** SQL for `isOpen`. */
export const OPEN = `(t.status = 'WAITING_PAYMENT' OR (t.status = 'PROCESSING' AND t.expected_payer_tax_id IS NULL))`;
const UNKNOWN = read(
  'transactions.unknown',
  `SELECT ${TRANSACTION_COLUMNS} FROM (
     SELECT *, row_number() OVER (PARTITION BY acquirer ORDER BY updated_at) AS place FROM transactions
     WHERE status = 'PENDING' AND updated_at <= $1) t
   WHERE t.place <= $2 ORDER BY t.updated_at`,
);
const ADD_ARTEFACTS = write(
  'transactions.add_artefacts',
  `UPDATE transactions t SET artefacts = $2::jsonb || coalesce(t.artefacts, '{}'), updated_at = $3
   WHERE t.id = $1 RETURNING ${TRANSACTION_COLUMNS}`,
);
const TOUCH_PENDING = write(
  'transactions.touch_pending',
  `UPDATE transactions SET updated_at = $2 WHERE id = $1 AND status = 'PENDING'`,
);
const FIND_UNISSUED = read(
  'transactions.find_unissued',
  `SELECT ${TRANSACTION_COLUMNS} FROM transactions t WHERE t.txid = $1 AND t.acquirer = $2
     AND (t.status = 'PENDING' OR (${OPEN} AND t.br_code IS NULL AND 'PIX' = ANY (t.payment_methods)))`,
);
const KEEP_CODE = write(
  'transactions.keep_code',
  `UPDATE transactions t SET br_code = $2, updated_at = $3
   WHERE t.id = $1 AND t.br_code IS NULL AND (${OPEN} OR t.status = 'CANCELLED') RETURNING ${TRANSACTION_COLUMNS}`,
);
const LOCK = write('transactions.lock', `SELECT ${TRANSACTION_COLUMNS} FROM transactions t WHERE t.id = $1 FOR UPDATE`);
const LOCK_OWN = write(
  'transactions.lock_own',
  `SELECT ${TRANSACTION_COLUMNS} FROM transactions t WHERE t.id = $1 AND t.account_id = $2 AND t.mode = $3 FOR UPDATE`,
);
const FIND_BY_TXID = read(
  'transactions.find_by_txid',
  `SELECT ${TRANSACTION_COLUMNS} FROM transactions t WHERE t.txid = $1 AND t.acquirer = $2`,
);
/** Reads currencies from the monthly statistics, which are few rows, and from changes not folded into them yet. */
const CURRENCIES = read(
  'transactions.currencies',
  `SELECT currency FROM transaction_figures WHERE account_id = $1 AND mode = $2 AND kind = 'month'
   UNION SELECT currency FROM transaction_changes WHERE account_id = $1 AND mode = $2`,
);
const LOCK_CURRENCIES = write(
  'transactions.lock_currencies',
  `SELECT pg_advisory_xact_lock(hashtextextended('currencies:' || $1 || ':' || $2, 0))`,
);
/**
 * Finds the exact txid first. The search in any case reads all open charges, so it runs only for a Pix without a charge
 * of its acquirer.
 */
const MAKER_OF = read(
  'transactions.maker_of',
  `SELECT t.acquirer, t.account_id AS "accountId" FROM transactions t WHERE t.txid = $1 AND t.mode = 'live'
   UNION ALL
   SELECT t.acquirer, t.account_id FROM transactions t
   WHERE lower(t.txid) = lower($1) AND t.txid <> $1 AND t.mode = 'live'
     AND t.status IN ('PENDING', 'WAITING_PAYMENT', 'PROCESSING')
   LIMIT 1`,
);
/** Uses `transactions_open_txid_idx`, whose condition is the last one here. */
const TXID_IN_ANY_CASE = read(
  'transactions.txid_in_any_case',
  `SELECT t.txid FROM transactions t
   WHERE t.acquirer = $1 AND lower(t.txid) = lower($2) AND t.txid <> $2
     AND t.status IN ('PENDING', 'WAITING_PAYMENT', 'PROCESSING') LIMIT 1`,
);
/**
 * Finds the sale of a refund, or of a Pix that was sent back or is held. Payers read these ids in their bank's
 * statement, and the index of the sales lacks them. The id is $3 as written, and $4 as a UUID or null.
 */
const BEHIND = read(
  'transactions.behind',
  `SELECT t.id FROM transactions t WHERE t.account_id = $1 AND t.mode = $2 AND t.id IN (
     SELECT transaction_id FROM settlements WHERE end_to_end_id = $3 AND outcome <> 'credited'
     UNION ALL SELECT transaction_id FROM refunds WHERE bank_reference = $3
     UNION ALL SELECT transaction_id FROM refunds WHERE id = $4::uuid) LIMIT 1`,
);
/** An end-to-end id, or the id of a devolution. */
const BANK_ID = /^[ED][0-9A-Za-z]{31}$/;

const FIND_ALL = read(
  'transactions.find_all',
  `SELECT ${TRANSACTION_COLUMNS} FROM transactions t WHERE t.id = ANY ($1::uuid[])`,
);

function moved(value: (place: number) => string): string {
  const kept = [
    'br_code',
    'paid_with',
    'end_to_end_id',
    'provider_fee',
    'platform_fee',
    'net_amount',
    'paid_at',
    'failure',
  ];
  const set = kept.map((column, index) => `${column} = coalesce(${value(index + 5)}, t.${column})`);
  return [`status = ${value(2)}`, `updated_at = ${value(4)}`, ...set].join(', ');
}

export interface MoveFields {
  readonly brCode?: string;
  readonly paidWith?: PaymentMethod;
  readonly endToEndId?: string;
  readonly providerFee?: Amount;
  readonly platformFee?: Amount;
  readonly netAmount?: Amount;
  readonly paidAt?: Date;
  readonly failure?: Failure;
}

interface Locked {
  readonly transaction: Transaction;
  readonly account: Account;
}

@Injectable()
export class TransactionsRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, t: Transaction): void {
    writeRow(tx, INSERT, t);
  }

  async find(scope: Scope, id: string): Promise<Transaction | null> {
    return this.reader.one<Transaction>(FIND, [id, scope.accountId, scope.mode]);
  }

  /** Across accounts: for the public checkout page and for workers, never for a merchant's request. */
  async findPublic(id: string): Promise<Transaction | null> {
    return this.reader.one<Transaction>(FIND_PUBLIC, [id]);
  }

  /** Locks the transaction until the end of `tx`; its account comes along, unlocked. */
  async lockByTxid(tx: Tx, acquirer: string, txid: string): Promise<Locked | null> {
    return queryRow<Locked>(tx, LOCK_BY_TXID, [txid, acquirer]);
  }

  /** Locks a transaction, by its id, and reads its account, as `lockByTxid` does. */
  async lockWithAccount(tx: Tx, id: string): Promise<Locked | null> {
    return tx.first<Locked>(LOCK_WITH_ACCOUNT, [id]);
  }

  /** @returns the moved transaction, or null when its status no longer allows the move: it was moved meanwhile */
  async move(tx: Tx, id: string, trigger: Trigger, at: Date, fields: MoveFields = {}): Promise<Transaction | null> {
    const { from, to } = MOVES[trigger];
    return queryRow<Transaction>(tx, MOVE, [
      id,
      to,
      `{${from.join(',')}}`,
      at,
      fields.brCode,
      fields.paidWith,
      fields.endToEndId,
      fields.providerFee,
      fields.platformFee,
      fields.netAmount,
      fields.paidAt,
      fields.failure === undefined ? null : JSON.stringify(fields.failure),
    ]);
  }

  /** @param text of a search @returns the sale that a refund's id or a bank's id leads to; null for every other text */
  async behind(tx: Tx, { accountId, mode }: Scope, text: string): Promise<string | null> {
    const uuid = text.toLowerCase();
    if (!isUuid(uuid) && !BANK_ID.test(text)) return null;
    const [row] = await tx.query<{ id: string }>(BEHIND, [accountId, mode, text, isUuid(uuid) ? uuid : null]);
    return row?.id ?? null;
  }

  /** Finds a transaction without a Pix code, though the acquirer may have made one. */
  async findUnissued(acquirer: string, txid: string): Promise<Transaction | null> {
    return this.reader.first<Transaction>(FIND_UNISSUED, [txid, acquirer]);
  }

  /**
   * Stores the code of a payment that was accepted without one, if it is still open or was cancelled meanwhile.
   * @returns null when it has one already, or has come to another end
   */
  async keepCode(tx: Tx, id: string, brCode: string, now: Date): Promise<Transaction | null> {
    return tx.first<Transaction>(KEEP_CODE, [id, brCode, now]);
  }

  async lock(tx: Tx, id: string): Promise<Transaction | null> {
    return tx.first<Transaction>(LOCK, [id]);
  }

  /** Locks a transaction for a merchant's request. @returns null also if another account or mode has it */
  async lockOwn(tx: Tx, scope: Scope, id: string): Promise<Transaction | null> {
    return tx.first<Transaction>(LOCK_OWN, [id, scope.accountId, scope.mode]);
  }

  /** Across accounts, as `findPublic`. */
  async findByTxid(acquirer: string, txid: string): Promise<Transaction | null> {
    return this.reader.first<Transaction>(FIND_BY_TXID, [txid, acquirer]);
  }

  /** Lists the currencies of an account's transactions, and keeps others from adding one until the end of `tx`. */
  async lockCurrencies(tx: Tx, { accountId, mode }: Scope): Promise<string[]> {
    await tx.query(LOCK_CURRENCIES, [accountId, mode]);
    const rows = await tx.query<{ currency: string }>(CURRENCIES, [accountId, mode]);
    return rows.map(({ currency }) => currency);
  }

  /** Finds the account of the live charge with this txid, and the acquirer that was asked for it; across accounts. */
  async makerOf(tx: Tx, txid: string): Promise<{ acquirer: string; accountId: string } | null> {
    return tx.first(MAKER_OF, [txid]);
  }

  /** Finds the txid of an open charge that the acquirer has written in other letters, capital or small. */
  async txidInAnyCase(tx: Tx, acquirer: string, txid: string): Promise<string | null> {
    const [row] = await tx.query<{ txid: string }>(TXID_IN_ANY_CASE, [acquirer, txid]);
    return row?.txid ?? null;
  }

  /** Across accounts, for workers; in no particular order and not locked. */
  async findAll(tx: Tx, ids: readonly string[]): Promise<Transaction[]> {
    return tx.query(FIND_ALL, [ids]);
  }

  /**
   * Stores the codes that an acquirer has made, whatever has happened meanwhile. @returns the transaction as it is now
   */
  async addArtefacts(tx: Tx, id: string, artefacts: Artefacts, at: Date): Promise<Transaction> {
    const [row] = await tx.query<Transaction>(ADD_ARTEFACTS, [id, JSON.stringify(artefacts), at]);
    if (!row) throw new Error(`There is no transaction ${id}`);
    return row;
  }

  /** Puts off the sweeper's next look at it. */
  touchPending(tx: Tx, id: string, at: Date): void {
    tx.defer(TOUCH_PENDING, [id, at]);
  }

  /**
   * Charges whose creation at the acquirer has no known outcome and that the sweeper has not looked at since.
   * @param limit of each acquirer
   */
  async findUnknown(before: Date, limit: number): Promise<Transaction[]> {
    return this.reader.query(UNKNOWN, [before, limit]);
  }
}
