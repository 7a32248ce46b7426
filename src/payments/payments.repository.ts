import { Injectable } from '@nestjs/common';
import { read, Reader, type ReadStatement, type Tx, write } from '../core/database/index.js';
import { idBound } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { COUNT_LIMIT, type CurrencyTotal, totalsOf } from '../core/totals.js';
import {
  type SortOrder,
  type Span,
  type Transaction,
  TRANSACTION_COLUMNS,
  type TransactionStatus,
} from '../transactions/index.js';

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

/** Count and sum of the paid rows. Statistics count the same: refunded and disputed sales were paid. */
const PAID = `, json_build_object('count', count(x."paidAt"),
  'amount', coalesce(sum(x.amount) FILTER (WHERE x."paidAt" IS NOT NULL), 0)) AS paid`;
const TOTALS = { any: totalsOf(ROWS.desc.any, PAID), status: totalsOf(ROWS.desc.status, PAID) };

/** Count and sum of one currency, and of the paid ones among them. */
export interface PaymentTotal extends CurrencyTotal {
  readonly paid: { readonly count: number; readonly amount: number };
}

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
const TOTALS_OF_IDS = totalsOf(BY_IDS, PAID);

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

/** Conditions that a sale has to match, all of them. */
export interface Search {
  /** An id of any kind, e-mail, document, metadata value, or the first letters of words of the customer's name. */
  readonly text: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Payments that the caller names, in this order. */
export interface Named {
  readonly ids: readonly string[];
}

/** The reading SQL of the list and the search of payments, over the table of `transactions`. */
@Injectable()
export class PaymentsRepository {
  constructor(private readonly reader: Reader) {}

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

  /** Counts the rows of that order, at most `COUNT_LIMIT`. */
  async totals(scope: Scope, status: TransactionStatus | null, range: Span): Promise<PaymentTotal[]> {
    const bounds = [idBound(range.from, 'min'), idBound(range.to, 'min')];
    const values = [scope.accountId, scope.mode, ...bounds, 0, COUNT_LIMIT];
    return status === null
      ? this.reader.query(TOTALS.any, values)
      : this.reader.query(TOTALS.status, [...values, status]);
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

  async totalsOfIds(tx: Tx, scope: Scope, ids: readonly string[]): Promise<PaymentTotal[]> {
    return tx.query(TOTALS_OF_IDS, [scope.accountId, scope.mode, ids]);
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
