import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/index.js';
import { groupBy } from '../core/group-by.js';
import type { Amount } from '../core/money/index.js';
import { TransactionsService } from '../transactions/index.js';
import { StatementService } from '../wallets/index.js';
import { Closing, closingPdf, type ClosingRow } from './formats/closing.js';
import { type Column, columnNames, columnsOf, type Common } from './formats/columns.js';
import { csvHeader, csvLine } from './formats/csv.js';
import { journalBegin, journalEnd, journalEntry } from './formats/journal.js';
import { OFX_END, ofxAccountBegin, ofxAccountEnd, ofxBegin, ofxLine } from './formats/ofx.js';
import { sheetName } from './formats/words.js';
import { writeXlsx } from './formats/xlsx.js';
import { ReportRowsRepository, type Rows, type StatementPart } from './report-rows.repository.js';
import type { ReportLocale, ReportOrder } from './report.entity.js';

/** A piece of the file and its number of report rows. */
export interface Piece {
  readonly content: string | Uint8Array;
  readonly rows: number;
}

const PIECE_LENGTH = 65_536;

/** The content of a report in pieces, and its expected number of rows, counted a moment before. */
export interface Report {
  readonly totalRows: number;
  readonly pieces: AsyncIterable<Piece>;
}

/** A part of the statement with its balance: from before the window to after it. */
type Account = StatementPart & { amount: Amount };

/** Makes the files, in constant memory. */
@Injectable()
export class ReportWriter {
  constructor(
    private readonly rows: ReportRowsRepository,
    private readonly statement: StatementService,
    private readonly transactions: TransactionsService,
    private readonly accounts: AccountsService,
  ) {}

  /** With filters, the file has the same rows as their list. */
  async write(order: ReportOrder): Promise<Report> {
    const { filters } = order;
    if (filters?.query === undefined) return this.#write(order);
    const query = await this.transactions.sought(order, filters.query);
    return this.#write({ ...order, filters: { ...filters, query } });
  }

  async #write(order: ReportOrder): Promise<Report> {
    switch (order.format) {
      case 'pdf':
        return this.#closing(order);
      case 'csv':
      case 'xlsx':
        return this.#table(order);
      case 'ofx':
        return this.#ofx(order);
      case 'journal':
        return this.#journal(order);
    }
  }

  async #table(order: ReportOrder): Promise<Report> {
    switch (order.type) {
      case 'statement':
        return table(order, this.rows.statement(order, partsOf(order, await this.rows.parts(order))));
      case 'sales':
        return table(order, this.rows.sales(order));
      case 'refunds':
        return table(order, this.rows.refunds(order));
      case 'disputes':
        return table(order, this.rows.disputes(order));
      case 'payouts':
        return table(order, this.rows.payouts(order));
      case 'customers':
        return table(order, this.rows.customers(order));
      case 'payment_links':
        return table(order, this.rows.paymentLinks(order));
      case 'deliveries':
        return table(order, this.rows.deliveries(order));
      case 'closing':
        return this.#closing(order);
    }
  }

  /** The balances before and after a month, and the sums of its entries between them. */
  async #closing(order: ReportOrder): Promise<Report> {
    const accounts = await this.#opening(order);
    const entries = this.rows.journal(order, [...new Set(accounts.map(({ currency }) => currency))]);
    const { name } = await this.accounts.get(order.accountId);
    const pieces = async function* (): AsyncGenerator<Piece> {
      const closing = new Closing(accounts);
      for await (const batch of entries.batches()) {
        for (const entry of batch) closing.add(entry);
        yield { content: '', rows: batch.length };
      }
      const rows = closing.rows(order);
      if (order.format === 'pdf') {
        yield { content: await closingPdf(order, name, rows), rows: 0 };
        return;
      }
      const batches = async function* (): AsyncGenerator<ClosingRow[]> {
        yield await Promise.resolve(rows);
      };
      const names = columnNames(order.type);
      const source = { batches, count: () => Promise.resolve(rows.length) };
      // Entries are the rows of a closing, and were counted above.
      for await (const { content } of xlsx(order, names, columnsOf<ClosingRow>(order.type, names), source)) {
        yield { content, rows: 0 };
      }
    };
    return { totalRows: await entries.count(), pieces: pieces() };
  }

  async #ofx(order: ReportOrder): Promise<Report> {
    const accounts = await this.#opening(order);
    const rows = this.rows.statement(order, accounts);
    const pieces = async function* (): AsyncGenerator<Piece> {
      const [...coming] = accounts;
      let account = coming.shift();
      const begin = (): string => (account ? ofxAccountBegin(order, account) : '');
      const next = (): string => {
        const end = account ? ofxAccountEnd(order, account, account.amount) : '';
        account = coming.shift();
        return end + begin();
      };
      yield { content: ofxBegin(order) + begin(), rows: 0 };
      for await (const batch of rows.batches()) {
        let text = '';
        for (const row of batch) {
          while (account && (account.currency !== row.currency || account.bucket !== row.bucket)) text += next();
          if (account) account.amount = row.balance;
          text += ofxLine(row);
        }
        yield { content: text, rows: batch.length };
      }
      let text = '';
      while (account) text += next();
      yield { content: text + OFX_END, rows: 0 };
    };
    return { totalRows: await rows.count(), pieces: pieces() };
  }

  async #journal(order: ReportOrder): Promise<Report> {
    const accounts = await this.#opening(order);
    const byCurrency = groupBy(accounts, ({ currency }) => currency);
    const rows = this.rows.journal(order, [...byCurrency.keys()]);
    const pieces = async function* (): AsyncGenerator<Piece> {
      yield { content: journalBegin(order, accounts), rows: 0 };
      for await (const batch of rows.batches()) {
        for (const { currency, lines } of batch) {
          for (const account of byCurrency.get(currency) ?? []) account.amount += lines[account.bucket] ?? 0;
        }
        yield { content: batch.map((entry) => journalEntry(order, entry)).join(''), rows: batch.length };
      }
      yield { content: journalEnd(order, accounts), rows: 0 };
    };
    return { totalRows: await rows.count(), pieces: pieces() };
  }

  /** Balance of each part of the statement before the window. */
  async #opening(order: ReportOrder): Promise<Account[]> {
    const parts = await this.rows.parts(order);
    const before = await this.statement.balancesAt(order, 'BRL', new Date(order.from.getTime() - 1));
    const balances = new Map(before.map((balance) => [balance.currency, balance]));
    return parts.map(({ currency, bucket }) => ({
      currency,
      bucket,
      amount: balances.get(currency)?.[bucket] ?? 0,
    }));
  }
}

/** The parts of the statement that the filters select. */
function partsOf({ filters }: ReportOrder, parts: readonly StatementPart[]): StatementPart[] {
  const { bucket = null, currency = null } = filters ?? {};
  return parts.filter(
    (part) => part.bucket === (bucket ?? part.bucket) && part.currency === (currency ?? part.currency),
  );
}

/** A report of rows with columns, as CSV or as a spreadsheet. */
async function table<R extends Common>(order: ReportOrder, rows: Rows<R>): Promise<Report> {
  const { format, locale } = order;
  const names = order.columns ?? columnNames(order.type);
  const columns: Column<R>[] = columnsOf(order.type, names);
  const pieces = format === 'xlsx' ? xlsx(order, names, columns, rows) : csv(names, columns, rows, locale);
  return { totalRows: await rows.count(), pieces };
}

async function* csv<R extends Common>(
  names: readonly string[],
  columns: readonly Column<R>[],
  rows: Rows<R>,
  locale: ReportLocale | null,
): AsyncGenerator<Piece> {
  yield { content: csvHeader(names, locale), rows: 0 };
  for await (const batch of rows.batches()) {
    let piece = { content: '', rows: 0 };
    for (const row of batch) {
      piece = { content: piece.content + csvLine(columns, row, locale), rows: piece.rows + 1 };
      // Other work runs between pieces: a piece of large rows has few of them.
      if (piece.content.length < PIECE_LENGTH) continue;
      yield piece;
      piece = { content: '', rows: 0 };
    }
    if (piece.rows > 0) yield piece;
  }
}

async function* xlsx<R extends Common>(
  { type, locale }: ReportOrder,
  names: readonly string[],
  columns: readonly Column<R>[],
  rows: Rows<R>,
): AsyncGenerator<Piece> {
  let read = 0;
  const single = async function* (): AsyncGenerator<R> {
    for await (const batch of rows.batches()) {
      for (const row of batch) {
        read++;
        yield row;
      }
    }
  };
  let written = 0;
  for await (const content of writeXlsx({ sheet: sheetName(type, locale), names, columns, rows: single(), locale })) {
    // Rows are read ahead while the reader of this piece is busy.
    const count = read - written;
    written += count;
    yield { content, rows: count };
  }
}
