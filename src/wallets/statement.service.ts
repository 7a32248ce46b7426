import { Injectable } from '@nestjs/common';
import { invalidRequest } from '../core/errors/index.js';
import { groupBy } from '../core/group-by.js';
import { cursorFilter, cursorPage } from '../core/http/index.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { CurrencyTotal } from '../core/totals.js';
import type { ListWalletEntriesQuery } from './dto/list-wallet-entries.query.js';
import type { WalletEntryListBody } from './dto/wallet-entry.body.js';
import { type Position, type StatementFilter, StatementRepository } from './statement.repository.js';
import { type PastBalance, walletEntryBody } from './statement.serializer.js';

/**
 * Lists the merchant's lines of the ledger, and their balances at a time. Both use the time of the entry, which within
 * a wallet is never before the time of the previous entry. A balance at one instant, plus all lines up to another
 * instant, is the balance at that other instant. An entry shows with its commit, milliseconds after its time.
 */
@Injectable()
export class StatementService {
  constructor(private readonly statement: StatementRepository) {}

  /** @throws ApiError 400 for a foreign cursor and for a window that ends before it begins */
  async list(scope: Scope, query: ListWalletEntriesQuery): Promise<WalletEntryListBody> {
    const filter = await this.#filter(scope, query);
    const rows = await this.statement.list(scope, filter);
    return cursorPage(rows, filter.limit, walletEntryBody, ({ id }) => id);
  }

  /** @throws ApiError 400 as `list` does */
  async totals(scope: Scope, query: ListWalletEntriesQuery): Promise<CurrencyTotal[]> {
    return this.statement.totals(scope, await this.#filter(scope, query));
  }

  async #filter(scope: Scope, query: ListWalletEntriesQuery): Promise<StatementFilter> {
    const filter = {
      ...cursorFilter(query),
      before: query.starting_after === undefined ? null : await this.#position(scope, query.starting_after),
      currency: query.currency ?? null,
      bucket: query.bucket ?? null,
      type: query.type ?? null,
      source: query.source === undefined ? null : query.source.replace(/^[a-z]+_/, ''),
    };
    if (filter.createdFrom && filter.createdTo && filter.createdTo < filter.createdFrom) {
      const message = 'must not be before created_after';
      throw invalidRequest([{ param: 'created_before', code: 'invalid', message }]);
    }
    return filter;
  }

  /**
   * Returns the balances at the end of that millisecond, for each currency moved until then; `primary` is always first.
   */
  async balancesAt(scope: Scope, primary: string, at: Date): Promise<PastBalance[]> {
    const rows = await this.statement.balancesAt(scope, at);
    const own = groupBy(rows, ({ currency }) => currency);
    return [...new Set([primary, ...own.keys()])].map((currency) => {
      const of = (bucket: string): Amount => own.get(currency)?.find((row) => row.bucket === bucket)?.amount ?? 0;
      return { currency, available: of('available'), pending: of('pending'), retained: of('retained') };
    });
  }

  async #position(scope: Scope, id: string): Promise<Position> {
    const [, entryId = '', line = ''] = id.split('_');
    const position = await this.statement.positionOf(scope, entryId, Number(line));
    if (position) return position;
    const message = 'must be the id of one of your wallet entries';
    throw invalidRequest([{ param: 'starting_after', code: 'invalid', message }]);
  }
}
