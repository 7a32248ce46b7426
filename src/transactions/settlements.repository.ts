import { Injectable } from '@nestjs/common';
import type { PaymentMethod, RefundWay } from '../acquirers/index.js';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { SHOWN_RETURNS } from './settlement.rules.js';

export interface SettlementRow {
  id: string;
  accountId: string | null;
  mode: Mode | null;
  transactionId: string | null;
  acquirer: string;
  /** The account whose end-to-end ids this one is among; null: it is the only one in the world. */
  namespace: string | null;
  endToEndId: string;
  txid: string | null;
  method: PaymentMethod;
  amount: Amount;
  outcome: 'credited' | 'returned' | 'review' | 'unmatched';
  reason: string | null;
  payerDocumentSealed: Buffer | null;
  /** What the acquirer keeps, in cents. */
  providerFee: Amount;
  settledAt: Date;
  createdAt: Date;
}

export interface PixReturn {
  readonly id: string;
  readonly accountId: string;
  readonly transactionId: string;
  readonly acquirer: string;
  readonly endToEndId: string;
  readonly returnId: string;
  readonly way: RefundWay;
  readonly amount: Amount;
  readonly currency: string;
  readonly status: 'PENDING' | 'IN_PROGRESS' | 'RETURNED' | 'FAILED';
}

const INSERT = statement(
  'settlements.insert',
  `INSERT INTO settlements (id, account_id, mode, transaction_id, acquirer, end_to_end_id, txid, amount, outcome, reason,
     payer_document_sealed, provider_fee, settled_at, created_at, method, namespace)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
);
const INSERT_RETURN = statement(
  'pix_returns.insert',
  `INSERT INTO pix_returns (id, account_id, mode, transaction_id, acquirer, end_to_end_id, return_id, amount, reason,
     status, created_at, updated_at, way, currency)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'PENDING', $10, $10, $11, $12)`,
);
/** What was held for an operator is no longer wanted: its review ends without one. */
const GIVE_BACK_HELD = statement(
  'settlements.give_back_held',
  `UPDATE settlements SET outcome = 'returned', reason = $2, reviewed_at = $3
   WHERE transaction_id = $1 AND outcome = 'review'
   RETURNING acquirer, end_to_end_id, amount`,
);
const RETURN_COLUMNS =
  'id, account_id, transaction_id, acquirer, end_to_end_id, return_id, way, amount, currency, status';
const OPEN_RETURN = statement(
  'pix_returns.open',
  `SELECT ${RETURN_COLUMNS} FROM pix_returns WHERE id = $1 AND status IN ('PENDING', 'IN_PROGRESS')`,
);
const FIND_RETURN = statement(
  'pix_returns.find',
  'SELECT id FROM pix_returns WHERE acquirer = $1 AND end_to_end_id = $2 AND return_id = $3',
);
const MOVE_RETURN = statement(
  'pix_returns.move',
  `UPDATE pix_returns SET status = $2, failure_reason = $3, updated_at = $4
   WHERE id = $1 AND status IN ('PENDING', 'IN_PROGRESS')`,
);
/** The last move, and what the merchant sees of it; the return is locked before its transaction. */
const COMPLETE_RETURN = statement(
  'pix_returns.complete',
  `WITH done AS (
     UPDATE pix_returns SET status = 'RETURNED', failure_reason = NULL, updated_at = $2
     WHERE id = $1 AND status IN ('PENDING', 'IN_PROGRESS')
     RETURNING transaction_id, amount, reason, end_to_end_id, way)
   UPDATE transactions t SET returns = coalesce(t.returns, '[]') || jsonb_build_array(jsonb_build_object(
     'amount', done.amount, 'reason', done.reason, 'endToEndId', done.end_to_end_id, 'at', $3::text))
   FROM done WHERE t.id = done.transaction_id AND done.way = 'devolution' AND done.reason = ANY ($4)`,
);
const RETURNS_OF = statement(
  'pix_returns.of',
  `SELECT ${RETURN_COLUMNS} FROM pix_returns WHERE transaction_id = $1 ORDER BY id`,
);

@Injectable()
export class SettlementsRepository {
  constructor(private readonly reader: Reader) {}

  /** A Pix seen before fails the transaction: unique violation of `settlements_end_to_end_id_key`. */
  insert(tx: Tx, row: SettlementRow): void {
    tx.defer(INSERT, [
      row.id,
      row.accountId,
      row.mode,
      row.transactionId,
      row.acquirer,
      row.endToEndId,
      row.txid,
      row.amount,
      row.outcome,
      row.reason,
      row.payerDocumentSealed,
      row.providerFee,
      row.settledAt,
      row.createdAt,
      row.method,
      row.namespace,
    ]);
  }

  insertReturn(
    tx: Tx,
    row: {
      id: string;
      accountId: string;
      mode: Mode;
      transactionId: string;
      acquirer: string;
      endToEndId: string;
      returnId: string;
      way: RefundWay;
      amount: Amount;
      currency: string;
      reason: string;
      now: Date;
    },
  ): void {
    tx.defer(INSERT_RETURN, [
      row.id,
      row.accountId,
      row.mode,
      row.transactionId,
      row.acquirer,
      row.endToEndId,
      row.returnId,
      row.amount,
      row.reason,
      row.now,
      row.way,
      row.currency,
    ]);
  }

  /** @returns the held money of a transaction, which the caller has to send back in the same `tx` */
  async giveBackHeld(
    tx: Tx,
    transactionId: string,
    reason: string,
    at: Date,
  ): Promise<{ acquirer: string; end_to_end_id: string; amount: Amount }[]> {
    return tx.query(GIVE_BACK_HELD, [transactionId, reason, at]);
  }

  /** Null for one that has come to its end. */
  async openReturn(id: string): Promise<PixReturn | null> {
    const [row] = await this.reader.query<ReturnRow>(OPEN_RETURN, [id]);
    return row ? toPixReturn(row) : null;
  }

  /** @returns its id; null when there is no such return */
  async findReturn(acquirer: string, endToEndId: string, returnId: string): Promise<string | null> {
    const [row] = await this.reader.query<{ id: string }>(FIND_RETURN, [acquirer, endToEndId, returnId]);
    return row?.id ?? null;
  }

  /** It is with its payer again; one that was shown as such before stays as it is. */
  completeReturn(tx: Tx, id: string, at: Date): void {
    tx.defer(COMPLETE_RETURN, [id, at, at.toISOString(), SHOWN_RETURNS]);
  }

  moveReturn(
    tx: Tx,
    id: string,
    status: Exclude<PixReturn['status'], 'RETURNED'>,
    failureReason: string | null,
    at: Date,
  ): void {
    tx.defer(MOVE_RETURN, [id, status, failureReason, at]);
  }

  async returnsOf(transactionId: string): Promise<PixReturn[]> {
    return (await this.reader.query<ReturnRow>(RETURNS_OF, [transactionId])).map(toPixReturn);
  }
}

interface ReturnRow {
  id: string;
  account_id: string;
  transaction_id: string;
  acquirer: string;
  end_to_end_id: string;
  return_id: string;
  way: RefundWay;
  amount: Amount;
  currency: string;
  status: PixReturn['status'];
}

function toPixReturn(row: ReturnRow): PixReturn {
  return {
    id: row.id,
    accountId: row.account_id,
    transactionId: row.transaction_id,
    acquirer: row.acquirer,
    endToEndId: row.end_to_end_id,
    returnId: row.return_id,
    way: row.way,
    amount: row.amount,
    currency: row.currency,
    status: row.status,
  };
}
