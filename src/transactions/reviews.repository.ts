import { Injectable } from '@nestjs/common';
import { ACCOUNT_COLUMNS, type Account, type AccountRow, toAccount } from '../accounts/index.js';
import type { PaymentMethod } from '../acquirers/index.js';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idRange } from '../core/ids.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { ReturnReason } from './settlement.rules.js';

/** A confirmed Pix that an operator has to look at. */
export interface AttentionPix {
  readonly id: string;
  readonly acquirer: string;
  readonly endToEndId: string;
  readonly txid: string | null;
  readonly amount: Amount;
  readonly reason: string | null;
  readonly payerDocumentSealed: Buffer | null;
  readonly providerFee: Amount;
  readonly settledAt: Date;
  readonly createdAt: Date;
}

/** Money that is nobody's. With a transaction: it was to go back to its payer by itself, and the bank has refused that. */
export interface StrayPix extends AttentionPix {
  readonly transactionId: string | null;
}

export type ReviewOutcome = 'review' | 'credited' | 'returned';

/** One that paid a charge and was not credited, because it is not known who paid. */
export interface HeldPix extends AttentionPix {
  readonly account: Account;
  readonly mode: Mode;
  readonly transactionId: string;
  readonly currency: string;
  readonly expectedPayerTaxId: string | null;
  /** `review` until an operator has decided. */
  readonly outcome: ReviewOutcome;
  /** When it ended, by whomever. */
  readonly reviewedAt: Date | null;
  /** Null too when the merchant has cancelled the charge, which sends the money back. */
  readonly reviewedBy: string | null;
}

export const RETURN_STATUSES = ['PENDING', 'IN_PROGRESS', 'RETURNED', 'FAILED'] as const;

export type ReturnStatus = (typeof RETURN_STATUSES)[number];

/** One that goes back to its payer by itself, or by an operator's decision. */
export interface ReturningPix {
  readonly id: string;
  readonly account: { readonly id: string; readonly name: string };
  readonly mode: Mode;
  readonly transactionId: string;
  readonly acquirer: string;
  readonly method: PaymentMethod;
  readonly endToEndId: string;
  readonly returnId: string;
  readonly amount: Amount;
  readonly currency: string;
  readonly reason: ReturnReason;
  readonly status: ReturnStatus;
  readonly failureReason: string | null;
  readonly payerDocumentSealed: Buffer | null;
  readonly settledAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ReturnFilter extends IdCursorFilter {
  readonly accountId: string | null;
  readonly mode: Mode | null;
  readonly reason: ReturnReason | null;
  readonly status: ReturnStatus | null;
}

export interface ReviewFilter extends IdCursorFilter {
  readonly mode: Mode | null;
}

const COLUMNS = `s.id, s.acquirer, s.end_to_end_id, s.txid, s.amount, s.reason, s.payer_document_sealed, s.provider_fee,
  s.settled_at, s.created_at`;
const HELD = `SELECT ${COLUMNS}, s.mode, s.transaction_id, s.outcome, s.reviewed_at, s.reviewed_by, t.currency,
    t.expected_payer_tax_id, ${ACCOUNT_COLUMNS}
  FROM settlements s JOIN transactions t ON t.id = s.transaction_id JOIN accounts a ON a.id = s.account_id`;

const WANTED = `s.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  AND s.id >= $2::uuid AND s.id <= $3::uuid`;

const LIST = statement(
  'reviews.list',
  `${HELD}
   WHERE s.outcome = 'review' AND ${WANTED} AND ($5::text IS NULL OR s.mode = $5)
   ORDER BY s.id DESC LIMIT $4`,
);
const FIND = statement(
  'reviews.find',
  `${HELD} WHERE s.id = $1 AND (s.outcome = 'review' OR s.reviewed_at IS NOT NULL)`,
);
const DECIDE = statement(
  'reviews.decide',
  `UPDATE settlements SET outcome = $2, reviewed_at = $3, reviewed_by = $4 WHERE id = $1 AND outcome = 'review'
   RETURNING 1`,
);
const UNMATCHED = statement(
  'reviews.unmatched',
  `SELECT ${COLUMNS}, s.transaction_id FROM settlements s
   WHERE s.id IN (
       SELECT u.id FROM settlements u WHERE u.outcome = 'unmatched'
       UNION ALL
       SELECT r.id FROM pix_returns p JOIN settlements r
         ON r.acquirer = p.acquirer AND r.end_to_end_id = p.end_to_end_id AND r.transaction_id = p.transaction_id
       WHERE p.status = 'FAILED')
     AND ${WANTED}
   ORDER BY s.id DESC LIMIT $4`,
);

const RETURNS = `SELECT p.id, p.account_id, a.name AS account_name, p.mode, p.transaction_id, p.acquirer, s.method,
    p.end_to_end_id, p.return_id, p.amount, p.currency, p.reason, p.status, p.failure_reason, s.payer_document_sealed,
    s.settled_at, p.created_at, p.updated_at
  FROM pix_returns p JOIN accounts a ON a.id = p.account_id
    JOIN settlements s ON s.transaction_id = p.transaction_id AND s.acquirer = p.acquirer AND s.end_to_end_id = p.end_to_end_id
  WHERE p.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND p.id >= $2::uuid AND p.id <= $3::uuid
    AND ($5::text IS NULL OR p.mode = $5) AND ($6::text IS NULL OR p.reason = $6) AND ($7::text IS NULL OR p.status = $7)`;
const LIST_RETURNS = statement('reviews.returns', `${RETURNS} ORDER BY p.id DESC LIMIT $4`);
const LIST_RETURNS_OF_ACCOUNT = statement(
  'reviews.returns_of_account',
  `${RETURNS} AND p.account_id = $8 ORDER BY p.id DESC LIMIT $4`,
);

interface ReturningRow {
  id: string;
  account_id: string;
  account_name: string;
  mode: Mode;
  transaction_id: string;
  acquirer: string;
  method: PaymentMethod;
  end_to_end_id: string;
  return_id: string;
  amount: Amount;
  currency: string;
  reason: ReturnReason;
  status: ReturnStatus;
  failure_reason: string | null;
  payer_document_sealed: Buffer | null;
  settled_at: Date;
  created_at: Date;
  updated_at: Date;
}

interface AttentionRow {
  id: string;
  acquirer: string;
  end_to_end_id: string;
  txid: string | null;
  amount: Amount;
  reason: string | null;
  payer_document_sealed: Buffer | null;
  provider_fee: Amount;
  settled_at: Date;
  created_at: Date;
}

interface HeldRow extends AttentionRow, AccountRow {
  mode: Mode;
  transaction_id: string;
  outcome: ReviewOutcome;
  reviewed_at: Date | null;
  reviewed_by: string | null;
  currency: string;
  expected_payer_tax_id: string | null;
}

@Injectable()
export class ReviewsRepository {
  constructor(private readonly reader: Reader) {}

  /** Newest first. */
  async list({ before, createdFrom, createdTo, limit, mode }: ReviewFilter): Promise<HeldPix[]> {
    const wanted = [before, ...idRange(createdFrom, createdTo), limit, mode];
    return (await this.reader.query<HeldRow>(LIST, wanted)).map(toHeld);
  }

  /** Decided ones too. */
  async find(tx: Tx, id: string): Promise<HeldPix | null> {
    const [row] = await tx.query<HeldRow>(FIND, [id]);
    return row ? toHeld(row) : null;
  }

  /** @returns whether this was the decision: false when there was one before */
  async decide(tx: Tx, id: string, outcome: 'credited' | 'returned', at: Date, by: string): Promise<boolean> {
    return (await tx.query(DECIDE, [id, outcome, at, by])).length > 0;
  }

  /** Newest first. */
  async unmatched({ before, createdFrom, createdTo, limit }: IdCursorFilter): Promise<StrayPix[]> {
    const wanted = [before, ...idRange(createdFrom, createdTo), limit];
    const rows = await this.reader.query<AttentionRow & { transaction_id: string | null }>(UNMATCHED, wanted);
    return rows.map((row) => ({ ...toAttention(row), transactionId: row.transaction_id }));
  }

  /** Newest first. */
  async returns(filter: ReturnFilter): Promise<ReturningPix[]> {
    const { before, createdFrom, createdTo, limit, mode, reason, status, accountId } = filter;
    const wanted = [before, ...idRange(createdFrom, createdTo), limit, mode, reason, status];
    const rows = await (accountId === null
      ? this.reader.query<ReturningRow>(LIST_RETURNS, wanted)
      : this.reader.query<ReturningRow>(LIST_RETURNS_OF_ACCOUNT, [...wanted, accountId]));
    return rows.map(toReturning);
  }
}

function toReturning(row: ReturningRow): ReturningPix {
  return {
    id: row.id,
    account: { id: row.account_id, name: row.account_name },
    mode: row.mode,
    transactionId: row.transaction_id,
    acquirer: row.acquirer,
    method: row.method,
    endToEndId: row.end_to_end_id,
    returnId: row.return_id,
    amount: row.amount,
    currency: row.currency,
    reason: row.reason,
    status: row.status,
    failureReason: row.failure_reason,
    payerDocumentSealed: row.payer_document_sealed,
    settledAt: row.settled_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toAttention(row: AttentionRow): AttentionPix {
  return {
    id: row.id,
    acquirer: row.acquirer,
    endToEndId: row.end_to_end_id,
    txid: row.txid,
    amount: row.amount,
    reason: row.reason,
    payerDocumentSealed: row.payer_document_sealed,
    providerFee: row.provider_fee,
    settledAt: row.settled_at,
    createdAt: row.created_at,
  };
}

function toHeld(row: HeldRow): HeldPix {
  return {
    ...toAttention(row),
    account: toAccount(row),
    mode: row.mode,
    transactionId: row.transaction_id,
    currency: row.currency,
    expectedPayerTaxId: row.expected_payer_tax_id,
    outcome: row.outcome,
    reviewedAt: row.reviewed_at,
    reviewedBy: row.reviewed_by,
  };
}
