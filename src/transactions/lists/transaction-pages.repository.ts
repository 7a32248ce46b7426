import { Injectable } from '@nestjs/common';
import { read, Reader, type ReadStatement, type Tx, valuesOfFields, write } from '../../core/database/index.js';
import { idBound, isUuid } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import type { Transaction } from '../transaction.js';
import type { TransactionStatus } from '../transactions.machine.js';
import { TRANSACTION_COLUMNS } from '../transactions.repository.js';
import { type Grain, type Piece, type Span, whole } from './transaction-pages.span.js';

export type SortOrder = 'asc' | 'desc';

/**
 * Parameters: $1, $2 scope; $3 status or null; $4 rows to skip. Grain, from and to of months, days and hours are $5 to
 * $7. Start, first id and end id of the rest pieces are $8 to $10.
 */
const locate = (order: SortOrder): ReadStatement =>
  read(
    `transaction_figures.locate_${order}`,
    `WITH pieces AS (
       SELECT * FROM unnest($5::text[], $6::timestamptz[], $7::timestamptz[]) AS p (grain, since, until)
     ), parts AS (
       SELECT grain, bucket, sum(n)::bigint AS count FROM (
         -- OFFSET 0: piece by piece by the index, never all figures of the account to be joined with the pieces.
         SELECT p.grain, f.bucket, f.key AS status, f.count AS n FROM pieces p, LATERAL (
           SELECT bucket, key, count FROM transaction_figures WHERE account_id = $1 AND mode = $2 AND kind = p.grain
             AND bucket >= p.since AND bucket < p.until OFFSET 0) f
         UNION ALL
         SELECT p.grain, date_trunc(p.grain, c.created_at, 'America/Sao_Paulo'), v.status, v.n
         FROM transaction_changes c JOIN pieces p ON c.created_at >= p.since AND c.created_at < p.until,
           LATERAL (VALUES (c.to_status, 1), (c.from_status, -1)) AS v (status, n)
         WHERE c.account_id = $1 AND c.mode = $2 AND v.status IS NOT NULL
       ) counted WHERE $3::text IS NULL OR status = $3 GROUP BY 1, 2
       UNION ALL
       SELECT 'rest', r.since, (SELECT count(*) FROM transactions t WHERE t.account_id = $1 AND t.mode = $2
         AND t.id >= r.from_id AND t.id < r.to_id AND ($3::text IS NULL OR t.status = $3))
       FROM unnest($8::timestamptz[], $9::uuid[], $10::uuid[]) AS r (since, from_id, to_id)
     ), running AS (
       SELECT grain, bucket, count, sum(count) OVER (ORDER BY bucket ${order} ROWS UNBOUNDED PRECEDING) AS upto FROM parts
     )
     SELECT (SELECT sum(count)::bigint FROM parts) AS total, p.grain, p.bucket, p.before
     FROM (SELECT 1) AS one LEFT JOIN LATERAL (
       SELECT grain, bucket, (upto - count)::bigint AS before FROM running WHERE upto > $4::bigint ORDER BY upto LIMIT 1
     ) AS p ON true`,
  );
const LOCATE: Readonly<Record<SortOrder, ReadStatement>> = { asc: locate('asc'), desc: locate('desc') };

/** Skips rows by reading only the index. */
const rows = (order: SortOrder, byStatus: boolean): ReadStatement => {
  const where = (alias: string): string =>
    `${alias}.account_id = $1 AND ${alias}.mode = $2 AND ${alias}.id >= $3 AND ${alias}.id < $4${byStatus ? ` AND ${alias}.status = $7` : ''}`;
  return read(
    `transactions.page_${order}${byStatus ? '_status' : ''}`,
    `SELECT ${TRANSACTION_COLUMNS} FROM transactions t
     WHERE ${where('t')} AND t.id ${order === 'asc' ? '>=' : '<='} (
       SELECT s.id FROM transactions s WHERE ${where('s')} ORDER BY s.id ${order} OFFSET $5 LIMIT 1)
     ORDER BY t.id ${order} LIMIT $6`,
  );
};
const ROWS = {
  asc: { any: rows('asc', false), status: rows('asc', true) },
  desc: { any: rows('desc', false), status: rows('desc', true) },
};

/** Fields of a list item and their columns. Source: docs/contract.md#payment-list. */
const SORT_COLUMNS = {
  status: 'status',
  amount: 'amount',
  currency: 'currency',
  paymentMethods: 'payment_methods',
  customerName: 'customer_name',
  customerDocument: 'customer_document',
  customerEmail: 'customer_email',
  metadata: 'metadata::jsonb', // `json` has no order
  paidWith: 'paid_with',
  providerFee: 'provider_fee',
  platformFee: 'platform_fee',
  netAmount: 'net_amount',
  paidAt: 'paid_at',
} as const;

export type SortColumn = keyof typeof SORT_COLUMNS;

/** Sorts `createdAt` and `id` alike: the id's time is the time of creation. */
export const SORT_FIELDS = ['createdAt', 'id', ...(Object.keys(SORT_COLUMNS) as SortColumn[])] as const;

export type SortField = (typeof SORT_FIELDS)[number];

/** Fields with an index of their own: the beginning of an unfiltered list is read without sorting the rest. */
const INDEXED = ['status', 'amount', 'customerName', 'customerDocument', 'paidAt'] as const satisfies SortColumn[];

export type IndexedColumn = (typeof INDEXED)[number];

export function isIndexed(field: SortField): field is IndexedColumn {
  return INDEXED.some((indexed) => indexed === field);
}

/**
 * How many rows an index is walked at most. The limit is written into the SQL, so that the planner knows it is small.
 */
export const NEAR = 200;

/** Nulls sort last and have no index except that of the ids, so they are read by a second statement. */
const first = (field: IndexedColumn, order: SortOrder, nulls: boolean): ReadStatement =>
  read(
    `transactions.first_${field}_${order}${nulls ? '_nulls' : ''}`,
    `SELECT t.id FROM transactions t
     WHERE t.account_id = $1 AND t.mode = $2 AND t.${SORT_COLUMNS[field]} IS ${nulls ? '' : 'NOT '}NULL
     ORDER BY ${nulls ? '' : `t.${SORT_COLUMNS[field]} ${order}, `}t.id ${order} LIMIT ${NEAR}`,
  );
const BY_IDS = read(
  'transactions.by_ids',
  `SELECT ${TRANSACTION_COLUMNS} FROM transactions t WHERE t.account_id = $1 AND t.mode = $2 AND t.id = ANY ($3)
   ORDER BY array_position($3, t.id)`,
);

/**
 * Sets limits for the rest of the transaction, $1 in milliseconds. The plan is made for each account: a generic plan
 * would read the whole table for a small account beside a large one. JIT is off because compiling takes longer than
 * sorting a small list.
 */
const WITHIN = write(
  'transactions.within',
  `SELECT set_config('statement_timeout', $1, true), set_config('jit', 'off', true),
     set_config('plan_cache_mode', 'force_custom_plan', true)`,
);

/** Limits the search of one account to one processor at a time. */
const ALONE = write('transactions.alone', `SELECT set_config('max_parallel_workers_per_gather', '0', true)`);

/** Sorts only ids, which are narrow, and then fetches the rows of the page. */
const sorted = (field: SortColumn, order: SortOrder): ReadStatement => {
  const by = (alias: string): string => `${alias}.${SORT_COLUMNS[field]} ${order} NULLS LAST, ${alias}.id ${order}`;
  return read(
    `transactions.page_${field}_${order}`,
    `SELECT ${TRANSACTION_COLUMNS} FROM transactions t WHERE t.id = ANY (ARRAY(
       SELECT s.id FROM transactions s
       WHERE s.account_id = $1 AND s.mode = $2 AND s.id >= $3 AND s.id < $4 AND ($7::text IS NULL OR s.status = $7)
       ORDER BY ${by('s')} OFFSET $5 LIMIT $6)) ORDER BY ${by('t')}`,
  );
};

/** How many sales a search finds at most, the newest ones. */
export const MAX_FOUND = 1_000;

/**
 * Terms of the index `transactions_search_idx`. The planner uses the index only if they match its definition word by
 * word.
 */
const TERMS =
  's.account_id, s.mode, s.id, s.txid, s.end_to_end_id, s.customer_email, s.customer_document, s.customer_name, s.metadata::jsonb';
const search = (field: SortField, order: SortOrder): ReadStatement => {
  const by = field === 'id' || field === 'createdAt' ? '' : `t.${SORT_COLUMNS[field]} ${order} NULLS LAST, `;
  return read(
    `transactions.search_${field}_${order}`,
    `SELECT t.id FROM transactions t WHERE t.id = ANY (ARRAY(
       SELECT s.id FROM transactions s
       WHERE s.account_id = $1 AND s.mode = $2 AND s.id >= $3 AND s.id < $4 AND ($5::text IS NULL OR s.status = $5)
         AND transaction_terms(${TERMS}) @@ transaction_search($1, $2, $6, $7, $8)
         -- A term of the metadata is a hash of "key=value", where either may have the sign in it.
         -- Without keys the planner sees that there is nothing to look at, or it would expect few sales to be left.
         AND ($7::text[] = '{}' OR NOT EXISTS (
           SELECT FROM unnest($7::text[], $8::text[]) AS m (key, value) WHERE s.metadata::jsonb ->> m.key IS DISTINCT FROM m.value))
       ORDER BY s.id DESC LIMIT ${MAX_FOUND})) ORDER BY ${by}t.id ${order}`,
  );
};

/**
 * Finds the sale of a refund, or of a Pix that was sent back or is held. Payers read these ids in their bank's
 * statement, and the index of the sales lacks them. $3 is the id as written, $4 the same as a UUID or null.
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

/** Conditions that a sale has to match, all of them. */
export interface Search {
  /** An id of any kind, e-mail, document, metadata value, or the first letters of words of the customer's name. */
  readonly text: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * The part of a span that has the wanted row: the piece itself or one of its months, days or hours, and how many rows
 * come before.
 */
export interface Part extends Piece {
  readonly before: number;
}

/** Pages of transactions and the counts that make every page cost the same. */
@Injectable()
export class TransactionPagesRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * Counts the transactions in these pieces of time, and finds the piece with the row that follows `offset` others.
   * Reads in one statement, so a change is seen either folded or waiting, and counts once.
   */
  async locate(
    scope: Scope,
    status: TransactionStatus | null,
    pieces: readonly Piece[],
    order: SortOrder,
    offset: number,
  ): Promise<{ total: number; part: Part | null }> {
    const counted = pieces.filter(({ grain }) => grain !== 'rest');
    const rests = pieces.filter(({ grain }) => grain === 'rest');
    const [row] = await this.reader.query<{
      total: number | null;
      grain: Grain | null;
      bucket: Date | null;
      before: number | null;
    }>(LOCATE[order], [
      ...[scope.accountId, scope.mode, status, offset],
      ...valuesOfFields(counted, 'grain', 'from', 'to'),
      ...[rests.map(({ from }) => from), rests.map(({ from }) => idBound(from, 'min'))],
      rests.map(({ to }) => idBound(to, 'min')),
    ]);
    const total = row?.total ?? 0;
    if (!row?.grain || !row.bucket || row.before === null) return { total, part: null };
    const { grain, bucket: from, before } = row;
    const to =
      grain === 'rest' ? rests.find((rest) => rest.from.getTime() === from.getTime())?.to : whole(grain, from).to;
    return { total, part: { grain, from, to: to ?? from, before } };
  }

  /** @param text of a search @returns the sale that a refund's id or a bank's id leads to; null for every other text */
  async behind(tx: Tx, { accountId, mode }: Scope, text: string): Promise<string | null> {
    const uuid = text.toLowerCase();
    if (!isUuid(uuid) && !BANK_ID.test(text)) return null;
    const [row] = await tx.query<{ id: string }>(BEHIND, [accountId, mode, text, isUuid(uuid) ? uuid : null]);
    return row?.id ?? null;
  }

  /** Rows in the order of creation. */
  async rows(
    scope: Scope,
    status: TransactionStatus | null,
    range: Span,
    order: SortOrder,
    offset: number,
    limit: number,
  ): Promise<Transaction[]> {
    const values = [scope.accountId, scope.mode, idBound(range.from, 'min'), idBound(range.to, 'min'), offset, limit];
    return status === null
      ? this.reader.query(ROWS[order].any, values)
      : this.reader.query(ROWS[order].status, [...values, status]);
  }

  /**
   * Returns rows near the beginning of an account's whole list, by another field, nulls last. `offset + limit` is at
   * most `NEAR`.
   */
  async near(
    scope: Scope,
    by: { field: IndexedColumn; order: SortOrder },
    offset: number,
    limit: number,
  ): Promise<Transaction[]> {
    const values = [scope.accountId, scope.mode];
    const end = offset + limit;
    const ids = (await this.reader.query<{ id: string }>(first(by.field, by.order, false), values)).slice(0, end);
    if (ids.length < end)
      ids.push(...(await this.reader.query<{ id: string }>(first(by.field, by.order, true), values)));
    const page = ids.slice(offset, end).map(({ id }) => id);
    return this.reader.query(BY_IDS, [...values, page]);
  }

  /**
   * Finds the newest `MAX_FOUND` that match, sorted.
   * @throws an error for which `isStatementTimeout` holds, after `withinMs`
   */
  async search(
    tx: Tx,
    withinMs: number,
    scope: Scope,
    status: TransactionStatus | null,
    range: Span,
    { text, metadata }: Search,
    by: { field: SortField; order: SortOrder },
  ): Promise<string[]> {
    tx.defer(WITHIN, [String(withinMs)]);
    tx.defer(ALONE, []);
    const rows = await tx.query<{ id: string }>(search(by.field, by.order), [
      ...[scope.accountId, scope.mode, idBound(range.from, 'min'), idBound(range.to, 'min'), status],
      ...[text, Object.keys(metadata), Object.values(metadata)],
    ]);
    return rows.map(({ id }) => id);
  }

  /** Transactions in the order of `ids`. */
  async byIds(tx: Tx, scope: Scope, ids: readonly string[]): Promise<Transaction[]> {
    return tx.query(BY_IDS, [scope.accountId, scope.mode, ids]);
  }

  /**
   * Returns rows by another field, nulls last. Reads all rows that match the filters.
   * @throws an error for which `isStatementTimeout` holds, after `withinMs`
   */
  async sorted(
    tx: Tx,
    withinMs: number,
    scope: Scope,
    status: TransactionStatus | null,
    range: Span,
    by: { field: SortColumn; order: SortOrder },
    offset: number,
    limit: number,
  ): Promise<Transaction[]> {
    tx.defer(WITHIN, [String(withinMs)]);
    return tx.query(sorted(by.field, by.order), [
      ...[scope.accountId, scope.mode, idBound(range.from, 'min'), idBound(range.to, 'min'), offset, limit, status],
    ]);
  }
}
