import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, type Tx, write } from '../../core/database/index.js';
import type { IdCursorFilter } from '../../core/http/index.js';
import { idRange } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import type { Taken } from '../taken.js';
import { TAKEN_COLUMNS } from '../transactions.repository.js';
import { Refund, RefundEntity, type RefundFailure } from './refund.entity.js';
import { REFUND_MOVES, type RefundStatus, type RefundTrigger } from './refunds.machine.js';

const COLUMNS = columnsOf(Refund, 'r');

const STANDING = read(
  'refunds.standing',
  `SELECT ${TAKEN_COLUMNS}, EXISTS (
     SELECT 1 FROM settlements s
     WHERE s.transaction_id = t.id AND s.outcome = 'credited' AND s.payer_document_sealed IS NOT NULL) AS "payerIsKnown",
     (SELECT count(*)::int FROM refunds r WHERE r.transaction_id = t.id) AS "refundCount"
   FROM transactions t WHERE t.id = $1`,
);
const REMAINING = read(
  'refunds.remaining',
  `SELECT greatest(t.amount - t.refunds_amount - t.disputed_amount - t.losses_amount, 0) AS amount FROM transactions t
   WHERE t.id = $1 AND t.account_id = $2 AND t.mode = $3`,
);
const INSERT = insertInto('refunds.insert', RefundEntity);
const ADD = write(
  'refunds.add',
  `UPDATE transactions SET refunds_amount = refunds_amount + $2,
     cashouts_amount = cashouts_amount + CASE $3::text WHEN 'cashout' THEN $2 ELSE 0 END WHERE id = $1`,
);
const MOVE = write(
  'refunds.move',
  `UPDATE refunds r SET status = $3, updated_at = $4, bank_reference = $5, failure_reason = $6, provider_fee = coalesce($7, provider_fee)
   WHERE r.id = $1 AND r.status = $2 RETURNING ${COLUMNS}`,
);
const RETURNED = read(
  'refunds.returned',
  `SELECT coalesce(sum(amount), 0)::bigint AS amount FROM refunds WHERE transaction_id = $1 AND status = 'REFUNDED'`,
);
const FIND_OPEN = read(
  'refunds.find_open',
  `SELECT ${columnsOf(Refund, 'r', { within: 'refund' })}, s.payer_document_sealed AS "payerDocumentSealed",
     t.status IN ('DISPUTE', 'CHARGEBACK') AS "isDisputed",
     t.refunds_amount + t.disputed_amount + t.losses_amount > t.amount AS "isOvertaken" FROM refunds r
   JOIN transactions t ON t.id = r.transaction_id
   LEFT JOIN settlements s ON s.transaction_id = r.transaction_id AND s.outcome = 'credited'
   WHERE r.id = $1 AND r.status IN ('PENDING', 'IN_PROGRESS')`,
);
const LIST = read(
  'refunds.list',
  `SELECT ${COLUMNS} FROM refunds r WHERE r.transaction_id = $1 AND r.account_id = $2 AND r.mode = $3 ORDER BY r.id DESC`,
);
const LIST_ALL = read(
  'refunds.list_all',
  `SELECT ${COLUMNS} FROM refunds r WHERE r.account_id = $1 AND r.mode = $2
     AND r.id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND r.id >= $4::uuid AND r.id <= $5::uuid
     AND ($6::text IS NULL OR r.status = $6)
   ORDER BY r.id DESC LIMIT $7`,
);
const HAS = read(
  'refunds.has',
  'SELECT 1 FROM refunds r WHERE r.id = $1 AND r.acquirer = $2 AND r.payment_reference = $3',
);
const HAS_CASHOUT = read(
  'refunds.has_cashout',
  `SELECT 1 FROM refunds r WHERE r.id = $1 AND r.acquirer = $2 AND r.way = 'cashout'`,
);
const FIND_ALL = read('refunds.find_all', `SELECT ${COLUMNS} FROM refunds r WHERE r.id = ANY ($1::uuid[])`);

/** Facts recorded at the end of a refund. */
export interface RefundEnd {
  readonly bankReference?: string | null;
  readonly failureReason?: RefundFailure;
  readonly providerFee?: Amount;
}

export interface RefundFilter extends IdCursorFilter {
  readonly status: RefundStatus | null;
}

interface Standing extends Taken {
  readonly payerIsKnown: boolean;
  readonly refundCount: number;
}

interface OpenRefund {
  readonly refund: Refund;
  readonly payerDocumentSealed: Buffer | null;
  readonly isDisputed: boolean;
  /** Disputes, losses and refunds exceed the payment: a dispute has taken money that a cashout was to give back. */
  readonly isOvertaken: boolean;
}

@Injectable()
export class RefundsRepository {
  constructor(private readonly reader: Reader) {}

  /** Reads the facts for deciding on a refund; the caller holds the transaction's lock. */
  async standing(tx: Tx, transactionId: string): Promise<Standing> {
    const [row] = await tx.query<Standing>(STANDING, [transactionId]);
    if (!row) throw new Error(`There is no transaction ${transactionId}`);
    return row;
  }

  /**
   * Returns the amount that refunds, disputes and losses have left of a transaction. Reads without a lock; refunds are
   * decided under the lock.
   */
  async remaining(scope: Scope, transactionId: string): Promise<Amount> {
    const [row] = await this.reader.query<{ amount: Amount }>(REMAINING, [transactionId, scope.accountId, scope.mode]);
    return row?.amount ?? 0;
  }

  insert(tx: Tx, refund: Refund): void {
    tx.defer(INSERT, INSERT.valuesOf(refund));
  }

  /**
   * Adds to the sum of the transaction's refunds that have not failed; a negative amount reduces it. A sum above the
   * payment fails the transaction (check `transactions_refunds_amount_check`).
   */
  add(tx: Tx, { transactionId, way }: Refund, amount: Amount): void {
    tx.defer(ADD, [transactionId, amount, way]);
  }

  /** @returns the moved refund, or null when its status no longer allows the move: it was moved meanwhile */
  async move(tx: Tx, id: string, trigger: RefundTrigger, at: Date, fields: RefundEnd = {}): Promise<Refund | null> {
    const { from, to } = REFUND_MOVES[trigger];
    const { bankReference, failureReason, providerFee } = fields;
    return tx.first<Refund>(MOVE, [id, from, to, at, bankReference, failureReason, providerFee]);
  }

  /** Returns the sum of the refunds that have reached the payer. */
  async returned(tx: Tx, transactionId: string): Promise<Amount> {
    const [row] = await tx.query<{ amount: Amount }>(RETURNED, [transactionId]);
    return row?.amount ?? 0;
  }

  /** Returns an open refund with its payer's document, sealed as in the settlement; null if the refund has ended. */
  async findOpen(id: string): Promise<OpenRefund | null> {
    return this.reader.first<OpenRefund>(FIND_OPEN, [id]);
  }

  /** Returns whether the refund belongs to that payment. */
  async has(id: string, acquirer: string, paymentReference: string): Promise<boolean> {
    return (await this.reader.query(HAS, [id, acquirer, paymentReference])).length > 0;
  }

  /** Returns whether the refund is a cashout of that acquirer. */
  async hasCashout(id: string, acquirer: string): Promise<boolean> {
    return (await this.reader.query(HAS_CASHOUT, [id, acquirer])).length > 0;
  }

  /** Reads across accounts, for workers; in no particular order and not locked. */
  async findAll(tx: Tx, ids: readonly string[]): Promise<Refund[]> {
    return tx.query(FIND_ALL, [ids]);
  }

  /** Newest first. */
  async list(scope: Scope, transactionId: string): Promise<Refund[]> {
    return this.reader.query(LIST, [transactionId, scope.accountId, scope.mode]);
  }

  /** Refunds of all transactions, newest first. */
  async listAll({ accountId, mode }: Scope, filter: RefundFilter): Promise<Refund[]> {
    const { before, createdFrom, createdTo, status, limit } = filter;
    return this.reader.query(LIST_ALL, [accountId, mode, before, ...idRange(createdFrom, createdTo), status, limit]);
  }
}
