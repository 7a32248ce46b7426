import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database, isStatementTimeout, type Tx } from '../core/database/index.js';
import { serviceUnavailable } from '../core/errors/index.js';
import type { Scope } from '../core/mode.js';
import { Turnstile } from '../core/turnstile.js';
import {
  asOf,
  ExpiryService,
  FINER,
  piecesOf,
  type SortOrder,
  type Span,
  spanOf,
  type Transaction,
  TransactionPlaces,
  TransactionsService,
  type TransactionStatus,
} from '../transactions/index.js';
import {
  isIndexed,
  type Named,
  NEAR,
  PaymentsRepository,
  type PaymentTotal,
  type Search,
  type SortField,
} from './payments.repository.js';

export interface PageQuery {
  /** The first page is 1. */
  readonly page: number;
  readonly limit: number;
  readonly status: TransactionStatus | null;
  /** Inclusive bounds on the time of creation. */
  readonly from: Date | null;
  readonly to: Date | null;
  readonly sortBy: SortField;
  readonly sortOrder: SortOrder;
  /** A text to search for. The newest `MAX_FOUND` matches are found, and counted as the total. */
  readonly search: Search | Named | null;
}

/** How many payments can be sorted in some tens of milliseconds. */
const LARGE = 20_000;
/**
 * How many large pages are read at once, for one account and for all: they hold two connections of the pool at most.
 */
const LARGE_OF_ONE = 1;
const LARGE_AT_ONCE = 2;
const MAX_WAITING = 6;
const SORT_MS = 5_000;
/** Limits searches. Most take a millisecond; a term that thousands of sales share takes tens of them. */
const SEARCHES_AT_ONCE = 4;
const SEARCHES_OF_ONE = 2;
const MAX_WAITING_SEARCHES = 100;

/**
 * Numbered pages with a total, at a cost that does not grow with the number of transactions. The counts of months, days
 * and hours give the total and the hour in which a page begins; only within that hour rows are skipped.
 * For fields other than the time of creation, only the first pages of indexed fields are as cheap. Other pages are
 * sorted anew, with limits on the time and on how many run at once.
 */
@Injectable()
export class PaymentPages {
  readonly #large = new Turnstile(LARGE_AT_ONCE, MAX_WAITING, LARGE_OF_ONE);
  readonly #searches = new Turnstile(SEARCHES_AT_ONCE, MAX_WAITING_SEARCHES, SEARCHES_OF_ONE);

  constructor(
    private readonly database: Database,
    private readonly payments: PaymentsRepository,
    private readonly places: TransactionPlaces,
    private readonly transactions: TransactionsService,
    private readonly expiry: ExpiryService,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns a page. A page past the end is empty; its total is still right.
   * @throws ApiError 503 when there is too much to be sorted
   */
  async page(scope: Scope, query: PageQuery): Promise<{ transactions: Transaction[]; total: number }> {
    const span = spanOf(query.from, query.to);
    if (!span) return { transactions: [], total: 0 };
    // Writes due expiries first, because a status filter must see the status of this moment.
    if (query.status !== null || query.sortBy === 'status') await this.expiry.expireDueOf(scope);
    const offset = (query.page - 1) * query.limit;
    const { rows, total } =
      query.search === null
        ? await this.#page(scope, query, span, offset)
        : await this.#found(scope, query, query.search, span, offset);
    const now = this.clock.now();
    return { transactions: rows.map((transaction) => asOf(transaction, now)), total };
  }

  /**
   * Counts and sums what the pages have, at most `COUNT_LIMIT`.
   * @throws ApiError 503 when there is too much to be searched
   */
  async totals(scope: Scope, query: PageQuery): Promise<PaymentTotal[]> {
    const span = spanOf(query.from, query.to);
    if (!span) return [];
    if (query.status !== null) await this.expiry.expireDueOf(scope);
    if (query.search === null) return this.payments.totals(scope, query.status, span);
    return this.#search(scope, { ...query, sortBy: 'createdAt' }, query.search, span, (tx, ids) =>
      this.payments.totalsOfIds(tx, scope, ids),
    );
  }

  async #page(
    scope: Scope,
    query: PageQuery,
    span: Span,
    offset: number,
  ): Promise<{ rows: Transaction[]; total: number }> {
    const { status, sortBy: field, sortOrder: order, limit } = query;
    const pieces = piecesOf(span);
    if (field !== 'createdAt' && field !== 'id') {
      const { total } = await this.places.locate(scope, status, pieces, order, 0);
      const by = { field, order };
      if (offset >= total) return { rows: [], total };
      const rows =
        isIndexed(field) && isWhole(query) && offset + limit <= NEAR
          ? await this.payments.near(scope, { ...by, field }, offset, limit)
          : await this.#sorted(scope, total, () =>
              this.database.transaction((tx) =>
                this.payments.sorted(tx, SORT_MS, scope, status, span, by, offset, limit),
              ),
            );
      return { rows, total };
    }
    if (offset <= NEAR) {
      const [{ total }, rows] = await Promise.all([
        this.places.locate(scope, status, pieces, order, 0),
        this.payments.rows(scope, status, span, order, offset, limit),
      ]);
      return { rows, total };
    }
    const located = await this.places.locate(scope, status, pieces, order, offset);
    let { part } = located;
    if (!part) return { rows: [], total: located.total };
    let within = offset - part.before;
    for (let finer = FINER[part.grain]; finer !== null && finer !== 'rest'; finer = FINER[part.grain]) {
      const inner = await this.places.locate(scope, status, piecesOf(part, finer), order, within);
      // The row has gone since it was counted: the page begins where the part ends.
      if (!inner.part) break;
      part = inner.part;
      within -= part.before;
    }
    // A page may continue into later parts.
    const range = order === 'asc' ? { from: part.from, to: span.to } : { from: span.from, to: part.to };
    return { rows: await this.payments.rows(scope, status, range, order, within, limit), total: located.total };
  }

  /** Returns the ids of the newest `MAX_FOUND` sales that match a text. @throws ApiError 503 */
  async find(scope: Scope, text: string): Promise<string[]> {
    const span = spanOf(null, null);
    const query = { status: null, sortBy: 'id', sortOrder: 'desc' } as const;
    if (!span) return [];
    return this.#search(scope, query, { text, metadata: {} }, span, (_tx, ids) => Promise.resolve([...ids]));
  }

  #found(
    scope: Scope,
    query: PageQuery,
    search: Search | Named,
    span: Span,
    offset: number,
  ): Promise<{ rows: Transaction[]; total: number }> {
    return this.#search(scope, query, search, span, async (tx, ids) => ({
      rows: await this.payments.byIds(tx, scope, ids.slice(offset, offset + query.limit)),
      total: ids.length,
    }));
  }

  /** @param take reads what is wanted of the found ids, in the transaction of the search */
  async #search<R>(
    scope: Scope,
    { status, sortBy: field, sortOrder: order }: Pick<PageQuery, 'status' | 'sortBy' | 'sortOrder'>,
    search: Search | Named,
    span: Span,
    take: (tx: Tx, ids: readonly string[]) => Promise<R>,
  ): Promise<R> {
    if ('ids' in search) return this.database.transaction((tx) => take(tx, search.ids));
    const tooMuch = (why: string) => () =>
      serviceUnavailable(`${why}: narrow startDate and endDate, or search for something rarer.`);
    const find = (): Promise<R> =>
      this.database.transaction(async (tx) => {
        const behind = search.text === null ? null : await this.transactions.behind(tx, scope, search.text);
        const wanted = behind === null ? search : { ...search, text: behind };
        const ids = await this.payments.search(tx, SORT_MS, scope, status, span, wanted, { field, order });
        return take(tx, ids);
      });
    try {
      return await this.#searches.pass(find, tooMuch('Too many searches are under way'), scope.accountId);
    } catch (error) {
      throw isStatementTimeout(error) ? tooMuch('Searching took too long')() : error;
    }
  }

  async #sorted({ accountId }: Scope, total: number, sort: () => Promise<Transaction[]>): Promise<Transaction[]> {
    const tooMuch = (why: string) => () =>
      serviceUnavailable(
        `${why}: narrow startDate and endDate or the status, or sort by createdAt. ${total} payments are to be sorted.`,
      );
    try {
      return total <= LARGE
        ? await sort()
        : await this.#large.pass(sort, tooMuch('Too many large lists are being sorted'), accountId);
    } catch (error) {
      throw isStatementTimeout(error) ? tooMuch('Sorting took too long')() : error;
    }
  }
}

/** Returns whether the query has no filters. */
function isWhole({ status, from, to }: PageQuery): boolean {
  return status === null && from === null && to === null;
}
