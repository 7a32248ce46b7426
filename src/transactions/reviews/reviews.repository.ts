import { Injectable } from '@nestjs/common';
import { Account } from '../../accounts/index.js';
import { columnsOf, read, Reader, type ReadStatement, type Tx, write } from '../../core/database/index.js';
import type { IdCursorFilter } from '../../core/http/index.js';
import { idRange } from '../../core/ids.js';
import type { Mode } from '../../core/mode.js';
import { OperatorQueues } from '../../core/operator-queues.js';
import { PixReturnEntity, type ReturnReason, type ReturnStatus } from '../returns/pix-return.entity.js';
import { SettlementEntity } from '../settlement/settlement.entity.js';

const ATTENTION = [
  ...(['id', 'acquirer', 'endToEndId', 'txid', 'amount', 'reason', 'payerDocumentSealed', 'providerFee'] as const),
  ...(['settledAt', 'createdAt'] as const),
] as const;

/** A confirmed Pix that an operator has to look at. */
export type AttentionPix = Pick<SettlementEntity, (typeof ATTENTION)[number]>;

/** Money without an owner. If it has a transaction, the bank refused the automatic return to its payer. */
export interface StrayPix extends AttentionPix {
  readonly transactionId: string | null;
  /** The account at whose acquirer the money lies; null if unknown. */
  readonly accountId: string | null;
  /** Why the bank refused to send the money back; null: no return was asked for. */
  readonly failureReason: string | null;
  /** The correction of this Pix that waits for a second operator; null: none. */
  readonly correctionId: string | null;
}

export type ReviewOutcome = 'review' | 'credited' | 'returned';

/** A Pix that paid a charge and was not credited, because its payer is unknown. */
export interface HeldPix extends AttentionPix {
  readonly account: Account;
  readonly mode: Mode;
  readonly transactionId: string;
  readonly currency: string;
  readonly expectedPayerTaxId: string | null;
  /** `review` until an operator has decided. */
  readonly outcome: ReviewOutcome;
  /** When the review ended, by anybody's decision. */
  readonly reviewedAt: Date | null;
  /** Null also when the merchant cancelled the charge, which sends the money back. */
  readonly reviewedBy: string | null;
}

/** A Pix that goes back to its payer automatically, or by an operator's decision. */
export interface ReturningPix
  extends
    Omit<PixReturnEntity, (typeof UNSHOWN)[number]>,
    Pick<SettlementEntity, 'method' | 'payerDocumentSealed' | 'settledAt'> {
  readonly account: { readonly id: string; readonly name: string };
}

const UNSHOWN = ['accountId', 'way', 'providerFee'] as const;

export interface ReturnFilter extends IdCursorFilter {
  readonly accountId: string | null;
  readonly mode: Mode | null;
  readonly reason: ReturnReason | null;
  readonly status: ReturnStatus | null;
}

export interface ReviewFilter extends IdCursorFilter {
  readonly mode: Mode | null;
}

const COLUMNS = columnsOf(SettlementEntity, 's', { only: ATTENTION });
const HELD = `SELECT ${COLUMNS}, ${columnsOf(SettlementEntity, 's', { only: ['mode', 'transactionId', 'outcome', 'reviewedAt', 'reviewedBy'] })},
    t.currency, t.expected_payer_tax_id AS "expectedPayerTaxId", ${columnsOf(Account, 'a', { within: 'account' })}
  FROM settlements s JOIN transactions t ON t.id = s.transaction_id JOIN accounts a ON a.id = s.account_id`;

const WANTED = `s.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  AND s.id >= $2::uuid AND s.id <= $3::uuid`;

const LIST = read(
  'reviews.list',
  `${HELD}
   WHERE s.outcome = 'review' AND ${WANTED} AND ($5::text IS NULL OR s.mode = $5)
   ORDER BY s.id DESC LIMIT $4`,
);
const FIND = read('reviews.find', `${HELD} WHERE s.id = $1 AND (s.outcome = 'review' OR s.reviewed_at IS NOT NULL)`);
const DECIDE = write(
  'reviews.decide',
  `UPDATE settlements SET outcome = $2, reviewed_at = $3, reviewed_by = $4 WHERE id = $1 AND outcome = 'review'
   RETURNING 1`,
);
/**
 * Joins the returns `p` of a Pix `s`, without comparing charges. If an operator has assigned the Pix to a charge since,
 * an earlier refused return names no charge.
 */
const OF_PIX = `p.acquirer = s.acquirer AND p.end_to_end_id = s.end_to_end_id AND p.account_id = s.account_id`;
const IS_UNMATCHED = `(s.outcome = 'unmatched' OR (s.outcome = 'returned'
       AND (s.acquirer, s.end_to_end_id) IN (SELECT p.acquirer, p.end_to_end_id FROM pix_returns p WHERE p.status = 'FAILED')
       AND NOT EXISTS (SELECT 1 FROM pix_returns p WHERE ${OF_PIX} AND p.status <> 'FAILED')))`;
const UNMATCHED = read(
  'reviews.unmatched',
  `SELECT ${COLUMNS}, s.transaction_id AS "transactionId", s.account_id AS "accountId",
     (SELECT p.failure_reason FROM pix_returns p WHERE ${OF_PIX} ORDER BY p.id DESC LIMIT 1) AS "failureReason",
     (SELECT c.id FROM corrections c
      WHERE c.settlement_id = s.id AND c.status = 'waiting' AND c.borne_by IS NULL) AS "correctionId"
   FROM settlements s
   WHERE ${IS_UNMATCHED} AND ${WANTED}
   ORDER BY s.id DESC LIMIT $4`,
);
const counted = (name: string, condition: string): ReadStatement =>
  read(name, `SELECT count(*)::int AS waiting, min(s.created_at) AS since FROM settlements s WHERE ${condition}`);
const COUNT_HELD = counted('reviews.count', `s.outcome = 'review'`);
const COUNT_UNMATCHED = counted('reviews.count_unmatched', IS_UNMATCHED);

const RETURNS = `SELECT ${columnsOf(PixReturnEntity, 'p', { without: UNSHOWN })},
    ${columnsOf(SettlementEntity, 's', { only: ['method', 'payerDocumentSealed', 'settledAt'] })},
    ${columnsOf(Account, 'a', { only: ['id', 'name'], within: 'account' })}
  FROM pix_returns p JOIN accounts a ON a.id = p.account_id
    JOIN settlements s ON ${OF_PIX}
  WHERE p.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND p.id >= $2::uuid AND p.id <= $3::uuid
    AND ($5::text IS NULL OR p.mode = $5) AND ($6::text IS NULL OR p.reason = $6) AND ($7::text IS NULL OR p.status = $7)`;
const LIST_RETURNS = read('reviews.returns', `${RETURNS} ORDER BY p.id DESC LIMIT $4`);
const LIST_RETURNS_OF_ACCOUNT = read(
  'reviews.returns_of_account',
  `${RETURNS} AND p.account_id = $8 ORDER BY p.id DESC LIMIT $4`,
);

@Injectable()
export class ReviewsRepository {
  constructor(
    private readonly reader: Reader,
    queues: OperatorQueues,
  ) {
    queues.register('reviews', COUNT_HELD);
    queues.register('unmatched', COUNT_UNMATCHED);
  }

  /** Newest first. */
  async list({ before, createdFrom, createdTo, limit, mode }: ReviewFilter): Promise<HeldPix[]> {
    const wanted = [before, ...idRange(createdFrom, createdTo), limit, mode];
    return this.reader.query(LIST, wanted);
  }

  /** Finds a review, also a decided one. */
  async find(tx: Tx, id: string): Promise<HeldPix | null> {
    return tx.first<HeldPix>(FIND, [id]);
  }

  /** @returns true if this call decided; false when an earlier one had */
  async decide(tx: Tx, id: string, outcome: 'credited' | 'returned', at: Date, by: string): Promise<boolean> {
    return (await tx.query(DECIDE, [id, outcome, at, by])).length > 0;
  }

  /** Newest first. */
  async unmatched({ before, createdFrom, createdTo, limit }: IdCursorFilter): Promise<StrayPix[]> {
    const wanted = [before, ...idRange(createdFrom, createdTo), limit];
    return this.reader.query(UNMATCHED, wanted);
  }

  /** Newest first. */
  async returns(filter: ReturnFilter): Promise<ReturningPix[]> {
    const { before, createdFrom, createdTo, limit, mode, reason, status, accountId } = filter;
    const wanted = [before, ...idRange(createdFrom, createdTo), limit, mode, reason, status];
    return accountId === null
      ? this.reader.query(LIST_RETURNS, wanted)
      : this.reader.query(LIST_RETURNS_OF_ACCOUNT, [...wanted, accountId]);
  }
}
