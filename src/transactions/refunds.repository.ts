import { Injectable } from '@nestjs/common';
import type { RefundWay } from '../acquirers/index.js';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { Mode, Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { Refund, RefundFailure } from './refund.js';
import { REFUND_MOVES, type RefundStatus, type RefundTrigger } from './refunds.machine.js';

interface Row {
  id: string;
  account_id: string;
  mode: Mode;
  transaction_id: string;
  acquirer: string;
  payment_reference: string;
  way: RefundWay;
  amount: Amount;
  fee: Amount;
  currency: string;
  reason: string | null;
  destination_sealed: Buffer | null;
  status: RefundStatus;
  bank_reference: string | null;
  failure_reason: RefundFailure | null;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = `r.id, r.account_id, r.mode, r.transaction_id, r.acquirer, r.payment_reference, r.way, r.amount, r.fee,
  r.currency, r.reason, r.destination_sealed, r.status, r.bank_reference, r.failure_reason, r.created_at,
  r.updated_at`;

function toRefund(row: Row): Refund {
  return {
    id: row.id,
    accountId: row.account_id,
    mode: row.mode,
    transactionId: row.transaction_id,
    acquirer: row.acquirer,
    paymentReference: row.payment_reference,
    way: row.way,
    amount: row.amount,
    fee: row.fee,
    currency: row.currency,
    reason: row.reason,
    destinationSealed: row.destination_sealed,
    status: row.status,
    bankReference: row.bank_reference,
    failureReason: row.failure_reason,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const STANDING = statement(
  'refunds.standing',
  `SELECT t.refunds_amount, t.disputed_amount, EXISTS (
     SELECT 1 FROM settlements s
     WHERE s.transaction_id = t.id AND s.outcome = 'credited' AND s.payer_document_sealed IS NOT NULL) AS payer_is_known
   FROM transactions t WHERE t.id = $1`,
);
const REMAINING = statement(
  'refunds.remaining',
  `SELECT t.amount - t.refunds_amount - t.disputed_amount AS amount FROM transactions t
   WHERE t.id = $1 AND t.account_id = $2 AND t.mode = $3`,
);
const INSERT = statement(
  'refunds.insert',
  `INSERT INTO refunds (id, account_id, mode, transaction_id, acquirer, payment_reference, way, amount, fee, currency,
     reason, destination_sealed, status, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)`,
);
const ADD = statement('refunds.add', 'UPDATE transactions SET refunds_amount = refunds_amount + $2 WHERE id = $1');
const MOVE = statement(
  'refunds.move',
  `UPDATE refunds r SET status = $3, updated_at = $4, bank_reference = $5, failure_reason = $6
   WHERE r.id = $1 AND r.status = $2 RETURNING ${COLUMNS}`,
);
const RETURNED = statement(
  'refunds.returned',
  `SELECT coalesce(sum(amount), 0)::bigint AS amount FROM refunds WHERE transaction_id = $1 AND status = 'REFUNDED'`,
);
const FIND_OPEN = statement(
  'refunds.find_open',
  `SELECT ${COLUMNS}, s.payer_document_sealed, t.status IN ('DISPUTE', 'CHARGEBACK') AS is_disputed FROM refunds r
   JOIN transactions t ON t.id = r.transaction_id
   LEFT JOIN settlements s ON s.transaction_id = r.transaction_id AND s.outcome = 'credited'
   WHERE r.id = $1 AND r.status IN ('PENDING', 'IN_PROGRESS')`,
);
const LIST = statement(
  'refunds.list',
  `SELECT ${COLUMNS} FROM refunds r WHERE r.transaction_id = $1 AND r.account_id = $2 AND r.mode = $3 ORDER BY r.id DESC`,
);
const HAS = statement(
  'refunds.has',
  'SELECT 1 FROM refunds r WHERE r.id = $1 AND r.acquirer = $2 AND r.payment_reference = $3',
);
const FIND_ALL = statement('refunds.find_all', `SELECT ${COLUMNS} FROM refunds r WHERE r.id = ANY ($1::uuid[])`);

@Injectable()
export class RefundsRepository {
  constructor(private readonly reader: Reader) {}

  /** What refunds of a transaction are decided on; the caller holds its lock. */
  async standing(
    tx: Tx,
    transactionId: string,
  ): Promise<{ refundsAmount: Amount; disputedAmount: Amount; payerIsKnown: boolean }> {
    const [row] = await tx.query<{ refunds_amount: Amount; disputed_amount: Amount; payer_is_known: boolean }>(
      STANDING,
      [transactionId],
    );
    if (!row) throw new Error(`There is no transaction ${transactionId}`);
    const { refunds_amount: refundsAmount, disputed_amount: disputedAmount, payer_is_known: payerIsKnown } = row;
    return { refundsAmount, disputedAmount, payerIsKnown };
  }

  /**
   * What neither refunds nor disputes have taken of a transaction. Not locked: what is refunded is decided under the
   * lock.
   */
  async remaining(scope: Scope, transactionId: string): Promise<Amount> {
    const [row] = await this.reader.query<{ amount: Amount }>(REMAINING, [transactionId, scope.accountId, scope.mode]);
    return row?.amount ?? 0;
  }

  insert(tx: Tx, refund: Refund): void {
    tx.defer(INSERT, [
      refund.id,
      refund.accountId,
      refund.mode,
      refund.transactionId,
      refund.acquirer,
      refund.paymentReference,
      refund.way,
      refund.amount,
      refund.fee,
      refund.currency,
      refund.reason,
      refund.destinationSealed,
      refund.status,
      refund.createdAt,
    ]);
  }

  /**
   * Adds to the sum of the transaction's refunds that have not failed, or takes off when negative. A sum above what was
   * paid fails the transaction (check `transactions_refunds_amount_check`).
   */
  add(tx: Tx, transactionId: string, amount: Amount): void {
    tx.defer(ADD, [transactionId, amount]);
  }

  /** @returns the moved refund, or null when its status no longer allows the move: somebody else moved it */
  async move(
    tx: Tx,
    id: string,
    trigger: RefundTrigger,
    at: Date,
    fields: { bankReference?: string | null; failureReason?: RefundFailure } = {},
  ): Promise<Refund | null> {
    const { from, to } = REFUND_MOVES[trigger];
    const { bankReference, failureReason } = fields;
    const [row] = await tx.query<Row>(MOVE, [id, from, to, at, bankReference, failureReason]);
    return row ? toRefund(row) : null;
  }

  /** Sum of the refunds that have reached the payer. */
  async returned(tx: Tx, transactionId: string): Promise<Amount> {
    const [row] = await tx.query<{ amount: Amount }>(RETURNED, [transactionId]);
    return row?.amount ?? 0;
  }

  /** With the document of who paid, sealed as in the settlement; null when the refund has come to its end. */
  async findOpen(
    id: string,
  ): Promise<{ refund: Refund; payerDocumentSealed: Buffer | null; isDisputed: boolean } | null> {
    type Found = Row & { payer_document_sealed: Buffer | null; is_disputed: boolean };
    const [row] = await this.reader.query<Found>(FIND_OPEN, [id]);
    if (!row) return null;
    return { refund: toRefund(row), payerDocumentSealed: row.payer_document_sealed, isDisputed: row.is_disputed };
  }

  /** Whether it is a refund of that payment. */
  async has(id: string, acquirer: string, paymentReference: string): Promise<boolean> {
    return (await this.reader.query(HAS, [id, acquirer, paymentReference])).length > 0;
  }

  /** Across accounts, for workers; in no particular order and not locked. */
  async findAll(tx: Tx, ids: readonly string[]): Promise<Refund[]> {
    return (await tx.query<Row>(FIND_ALL, [ids])).map(toRefund);
  }

  /** Newest first. */
  async list(scope: Scope, transactionId: string): Promise<Refund[]> {
    const rows = await this.reader.query<Row>(LIST, [transactionId, scope.accountId, scope.mode]);
    return rows.map(toRefund);
  }
}
