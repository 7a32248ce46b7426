import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import type { Scope } from '../core/mode.js';
import { asOf, type Transaction } from './transaction.js';
import {
  isIndexed,
  NEAR,
  type SortField,
  type SortOrder,
  TransactionPagesRepository,
} from './transaction-pages.repository.js';
import { FINER, piecesOf, type Span, spanOf } from './transaction-pages.span.js';
import type { TransactionStatus } from './transactions.machine.js';
import { TransactionsService } from './transactions.service.js';

export interface PageQuery {
  /** From 1. */
  readonly page: number;
  readonly limit: number;
  readonly status: TransactionStatus | null;
  /** Inclusive bounds on the time of creation. */
  readonly from: Date | null;
  readonly to: Date | null;
  readonly sortBy: SortField;
  readonly sortOrder: SortOrder;
}

/**
 * Numbered pages with a total, at a cost that does not grow with the number of transactions: the counts of months,
 * days and hours say how many there are and in which hour a page begins, and only within that hour rows are passed by.
 */
@Injectable()
export class TransactionPagesService {
  constructor(
    private readonly pages: TransactionPagesRepository,
    private readonly transactions: TransactionsService,
    private readonly clock: Clock,
  ) {}

  /** A page past the end is empty; the total is right all the same. */
  async page(scope: Scope, query: PageQuery): Promise<{ transactions: Transaction[]; total: number }> {
    const span = spanOf(query.from, query.to);
    if (!span) return { transactions: [], total: 0 };
    // A status is what it is at this moment: what the clock has expired is written as such before it is looked for.
    if (query.status !== null || query.sortBy === 'status') await this.transactions.expireDueOf(scope);
    const { rows, total } = await this.#page(scope, query, span, (query.page - 1) * query.limit);
    const now = this.clock.now();
    return { transactions: rows.map((transaction) => asOf(transaction, now)), total };
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
      const [{ total }, rows] = await Promise.all([
        this.pages.locate(scope, status, pieces, order, 0),
        isIndexed(field) && isWhole(query) && offset + limit <= NEAR
          ? this.pages.near(scope, { field, order }, offset, limit)
          : this.pages.sorted(scope, status, span, { field, order }, offset, limit),
      ]);
      return { rows, total };
    }
    if (offset <= NEAR) {
      const [{ total }, rows] = await Promise.all([
        this.pages.locate(scope, status, pieces, order, 0),
        this.pages.rows(scope, status, span, order, offset, limit),
      ]);
      return { rows, total };
    }
    const located = await this.pages.locate(scope, status, pieces, order, offset);
    let { part } = located;
    if (!part) return { rows: [], total: located.total };
    let within = offset - part.before;
    for (let finer = FINER[part.grain]; finer !== null && finer !== 'rest'; finer = FINER[part.grain]) {
      const inner = await this.pages.locate(scope, status, piecesOf(part, finer), order, within);
      // Gone since it was counted: the page begins where the part ends.
      if (!inner.part) break;
      part = inner.part;
      within -= part.before;
    }
    // A page may run on into later parts.
    const range = order === 'asc' ? { from: part.from, to: span.to } : { from: span.from, to: part.to };
    return { rows: await this.pages.rows(scope, status, range, order, within, limit), total: located.total };
  }
}

/** Without filters. */
function isWhole({ status, from, to }: PageQuery): boolean {
  return status === null && from === null && to === null;
}
