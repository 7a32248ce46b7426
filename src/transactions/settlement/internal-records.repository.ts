import { Injectable } from '@nestjs/common';
import { newReturnId } from '../../brazil/index.js';
import { columnsOf, Reader, read } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import { SettlementEntity } from './settlement.entity.js';
import { IS_CLAIMABLE } from './settlements.repository.js';

/** A Pix that was settled here, with any outcome. */
export type BookedPix = Pick<SettlementEntity, (typeof BOOKED)[number]>;

/** Money of a Pix that we asked to send back: a refund, or a return of a Pix that paid no charge. */
export interface BookedReturn {
  readonly endToEndId: string;
  readonly returnId: string;
  readonly amount: Amount;
  readonly state: 'in_progress' | 'returned' | 'failed';
}

/** Operations of one kind that an acquirer charges fees for. */
export interface ChargedOperation {
  readonly operation: 'PIX' | 'devolution';
  readonly count: number;
  readonly amount: Amount;
  readonly fee: Amount;
}

export interface EnteredFees {
  readonly count: number;
  readonly amount: Amount;
}

const BOOKED = ['endToEndId', 'amount', 'outcome'] as const;
const COLUMNS = columnsOf(SettlementEntity, 's', { only: BOOKED });
const OF_TIME = read(
  'books.of_time',
  `SELECT ${COLUMNS} FROM settlements s
   WHERE s.acquirer = $1 AND s.acquirer <> 'sandbox' AND s.settled_at >= $2 AND s.settled_at < $3 AND s.method = 'PIX'
   ORDER BY s.settled_at, s.id`,
);
const OF_IDS = read(
  'books.of_ids',
  `SELECT ${COLUMNS} FROM settlements s
   WHERE s.acquirer = $1 AND s.namespace IS NULL AND s.end_to_end_id = ANY ($2::text[])`,
);
const SETTLED = read(
  'books.settled',
  `SELECT s.end_to_end_id AS "endToEndId" FROM settlements s
   WHERE s.namespace IS NULL AND s.end_to_end_id = ANY ($1::text[])`,
);
/** Leaves out Pix of the acquirer that wait for an operator: its charge may show them as its payment. */
const BOOKED_FOR_GOOD = read(
  'books.booked_for_good',
  `SELECT s.end_to_end_id AS "endToEndId" FROM settlements s
   WHERE s.namespace IS NULL AND s.end_to_end_id = ANY ($1::text[]) AND NOT (s.acquirer = $2 AND ${IS_CLAIMABLE})`,
);
/** Sums the operators' entries for each return, with those taken back. A bank's fee is no return. */
const RETURNS = read(
  'books.returns',
  `SELECT r.payment_reference AS "endToEndId", NULL AS "returnId", r.id AS "refundId", r.amount, r.status FROM refunds r
   WHERE r.transaction_id IN (
       SELECT s.transaction_id FROM settlements s
       WHERE s.acquirer = $1 AND s.namespace IS NULL AND s.end_to_end_id = ANY ($2::text[]))
     AND r.payment_reference = ANY ($2) AND r.way = 'devolution'
   UNION ALL
   SELECT p.end_to_end_id, p.return_id, NULL, p.amount, p.status FROM pix_returns p
   WHERE p.acquirer = $1 AND p.end_to_end_id = ANY ($2)
   UNION ALL
   SELECT s.end_to_end_id, c.bank_reference, NULL, sum(c.amount)::bigint, 'RETURNED' FROM settlements s
   JOIN corrections c ON c.settlement_id = s.id AND c.bank_reference IS NOT NULL AND c.status = 'applied'
     AND c.kind IN ('loss', 'returned_elsewhere')
   WHERE s.acquirer = $1 AND s.namespace IS NULL AND s.end_to_end_id = ANY ($2::text[])
   GROUP BY s.end_to_end_id, c.bank_reference HAVING sum(c.amount) <> 0`,
);

/** Sums the operations that the acquirer charges for. Returns are searched by account, for which they have an index. */
const CHARGED = read(
  'books.charged',
  `SELECT operation, count(*)::int AS count, coalesce(sum(amount), 0)::bigint AS amount, coalesce(sum(fee), 0)::bigint AS fee FROM (
     SELECT 'PIX' AS operation, s.amount, s.provider_fee AS fee FROM settlements s
     WHERE s.acquirer = $1 AND s.acquirer <> 'sandbox' AND s.settled_at >= $3 AND s.settled_at < $4 AND s.method = 'PIX'
     UNION ALL
     SELECT 'devolution', r.amount, r.provider_fee FROM refunds r
     WHERE r.acquirer = $1 AND r.account_id = $2 AND r.way = 'devolution' AND r.status = 'REFUNDED'
       AND r.updated_at >= $3 AND r.updated_at < $4
     UNION ALL
     SELECT 'devolution', p.amount, p.provider_fee FROM pix_returns p
     WHERE p.acquirer = $1 AND p.account_id = $2 AND p.way = 'devolution' AND p.status = 'RETURNED'
       AND p.updated_at >= $3 AND p.updated_at < $4) c
   GROUP BY 1`,
);
const ENTERED = read(
  'books.entered_fees',
  `SELECT count(*)::int AS count, coalesce(sum(c.amount), 0)::bigint AS amount FROM corrections c
   WHERE c.acquirer = $1 AND c.invoice_month = $2 AND c.status = 'applied'`,
);

const STATES = {
  PENDING: 'in_progress',
  IN_PROGRESS: 'in_progress',
  REFUNDED: 'returned',
  RETURNED: 'returned',
  FAILED: 'failed',
} as const;

interface ReturnRow extends Omit<BookedReturn, 'returnId' | 'state'> {
  readonly returnId: string | null;
  readonly refundId: string | null;
  readonly status: keyof typeof STATES;
}

/** A number of ids that fits into a statement's parameters and an index scan. */
const CHUNK = 1_000;

/**
 * Reads the service's own books of an acquirer's Pix, to compare them with the acquirer's. Works for acquirers whose
 * references are unique worldwide. Reads across accounts.
 */
@Injectable()
export class InternalRecordsRepository {
  constructor(private readonly reader: Reader) {}

  /** Returns the acquirer's settlements of a time span by its own clock: `from` included, `to` not. */
  async settled(acquirer: string, from: Date, to: Date): Promise<BookedPix[]> {
    return this.reader.query(OF_TIME, [acquirer, from, to]);
  }

  /** Returns the Pix among these ids that were settled here. */
  async known(acquirer: string, endToEndIds: readonly string[]): Promise<BookedPix[]> {
    return inChunks(endToEndIds, (ids) => this.reader.query<BookedPix>(OF_IDS, [acquirer, ids]));
  }

  /** Leaves out the Pix that any acquirer has settled: several acquirers may see one account at a PSP. */
  async unsettled(endToEndIds: readonly string[]): Promise<string[]> {
    const rows = await inChunks(endToEndIds, (ids) => this.reader.query<{ endToEndId: string }>(SETTLED, [ids]));
    const settled = new Set(rows.map(({ endToEndId }) => endToEndId));
    return endToEndIds.filter((id) => !settled.has(id));
  }

  /** Leaves out the Pix that are settled, unless the acquirer's Pix is unmatched and may still pay its charge. */
  async claimable(acquirer: string, endToEndIds: readonly string[]): Promise<string[]> {
    const rows = await inChunks(endToEndIds, (ids) =>
      this.reader.query<{ endToEndId: string }>(BOOKED_FOR_GOOD, [ids, acquirer]),
    );
    const booked = new Set(rows.map(({ endToEndId }) => endToEndId));
    return endToEndIds.filter((id) => !booked.has(id));
  }

  /**
   * Counts operations with their fees: payments by the bank's clock, returns by ours, `from` included, `to` not.
   * Operations that did not happen are left out.
   */
  async charged(acquirer: string, accountId: string, from: Date, to: Date): Promise<ChargedOperation[]> {
    return this.reader.query(CHARGED, [acquirer, accountId, from, to]);
  }

  /** Sums the fees of a month's invoice that operators have entered. */
  async enteredFees(acquirer: string, month: string): Promise<EnteredFees> {
    const [row] = await this.reader.query<EnteredFees>(ENTERED, [acquirer, month]);
    return row ?? { count: 0, amount: 0 };
  }

  /** Lists the returns that we asked for of these Pix, in no particular order. */
  async returns(acquirer: string, endToEndIds: readonly string[]): Promise<BookedReturn[]> {
    const rows = await inChunks(endToEndIds, (ids) => this.reader.query<ReturnRow>(RETURNS, [acquirer, ids]));
    return rows.map(({ endToEndId, returnId, refundId, amount, status }) => ({
      ...{ endToEndId, returnId: returnId ?? newReturnId(refundId ?? ''), amount, state: STATES[status] },
    }));
  }
}

async function inChunks<T>(ids: readonly string[], read: (ids: readonly string[]) => Promise<T[]>): Promise<T[]> {
  const found: T[] = [];
  for (let at = 0; at < ids.length; at += CHUNK) found.push(...(await read(ids.slice(at, at + CHUNK))));
  return found;
}
