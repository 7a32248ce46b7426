import { Injectable } from '@nestjs/common';
import { newReturnId } from '../brazil/index.js';
import { Reader, statement } from '../core/database/index.js';
import type { Amount } from '../core/money/index.js';
import type { SettlementRow } from './settlements.repository.js';

/** A Pix that was settled here, whatever became of it. */
export interface BookedPix {
  readonly endToEndId: string;
  /** Cents. */
  readonly amount: Amount;
  readonly outcome: SettlementRow['outcome'];
}

/** Money of a Pix that was asked to go back: a refund, or a return of what was nobody's payment. */
export interface BookedReturn {
  readonly endToEndId: string;
  readonly returnId: string;
  readonly amount: Amount;
  readonly state: 'in_progress' | 'returned' | 'failed';
}

const COLUMNS = 's.end_to_end_id, s.amount, s.outcome';
const OF_TIME = statement(
  'books.of_time',
  `SELECT ${COLUMNS} FROM settlements s
   WHERE s.acquirer = $1 AND s.acquirer <> 'sandbox' AND s.settled_at >= $2 AND s.settled_at < $3 AND s.method = 'PIX'
   ORDER BY s.settled_at, s.id`,
);
const OF_IDS = statement(
  'books.of_ids',
  `SELECT ${COLUMNS} FROM settlements s
   WHERE s.acquirer = $1 AND s.namespace IS NULL AND s.end_to_end_id = ANY ($2::text[])`,
);
const RETURNS = statement(
  'books.returns',
  `SELECT r.payment_reference AS end_to_end_id, NULL AS return_id, r.id AS refund_id, r.amount, r.status FROM refunds r
   WHERE r.transaction_id IN (
       SELECT s.transaction_id FROM settlements s
       WHERE s.acquirer = $1 AND s.namespace IS NULL AND s.end_to_end_id = ANY ($2::text[]))
     AND r.payment_reference = ANY ($2) AND r.way = 'devolution'
   UNION ALL
   SELECT p.end_to_end_id, p.return_id, NULL, p.amount, p.status FROM pix_returns p
   WHERE p.acquirer = $1 AND p.end_to_end_id = ANY ($2)`,
);

const STATES = {
  PENDING: 'in_progress',
  IN_PROGRESS: 'in_progress',
  REFUNDED: 'returned',
  RETURNED: 'returned',
  FAILED: 'failed',
} as const;

interface PixRow {
  end_to_end_id: string;
  amount: Amount;
  outcome: SettlementRow['outcome'];
}

interface ReturnRow {
  end_to_end_id: string;
  return_id: string | null;
  refund_id: string | null;
  amount: Amount;
  status: keyof typeof STATES;
}

/** What the service's own books say of an acquirer's Pix. For acquirers whose references are worldwide. */
@Injectable()
export class BooksRepository {
  constructor(private readonly reader: Reader) {}

  /** Of a time, by the bank's clock: `from` included, `to` not. */
  async ofTime(acquirer: string, from: Date, to: Date): Promise<BookedPix[]> {
    return (await this.reader.query<PixRow>(OF_TIME, [acquirer, from, to])).map(toPix);
  }

  async ofIds(acquirer: string, endToEndIds: readonly string[]): Promise<BookedPix[]> {
    return (await this.reader.query<PixRow>(OF_IDS, [acquirer, endToEndIds])).map(toPix);
  }

  /** Every return of these Pix by their end-to-end ids, in no particular order. */
  async returns(acquirer: string, endToEndIds: readonly string[]): Promise<BookedReturn[]> {
    const rows = await this.reader.query<ReturnRow>(RETURNS, [acquirer, endToEndIds]);
    return rows.map((row) => ({
      endToEndId: row.end_to_end_id,
      returnId: row.return_id ?? newReturnId(row.refund_id ?? ''),
      amount: row.amount,
      state: STATES[row.status],
    }));
  }
}

function toPix(row: PixRow): BookedPix {
  return { endToEndId: row.end_to_end_id, amount: row.amount, outcome: row.outcome };
}
