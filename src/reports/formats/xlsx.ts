import { type CellValue, writeXlsxStream } from 'hucre/xlsx';
import { saoPauloDay, saoPauloLocal } from '../../brazil/index.js';
import { digitsOf } from '../../core/money/index.js';
import { withoutTurns } from '../../core/text.js';
import type { ReportLocale } from '../report.entity.js';
import { type Column, type Common, headingOf, textOf } from './columns.js';

/** Excel refuses a file with a longer text in a cell. */
const MAX_TEXT = 32_767;
/** Rows of a sheet of Excel, the headings included. */
const MAX_ROWS = 1_048_576;
const HEADING = { font: { bold: true } };
/** Widths in characters. */
const WIDTHS: Readonly<Record<Column<never>['kind'], number>> = {
  text: 24,
  tax_id: 20,
  money: 16,
  count: 12,
  time: 20,
  day: 12,
};
const ID_WIDTH = 40;
const IDS = new Set([
  'payment',
  'refund',
  'dispute',
  'payout',
  'id',
  'source',
  'end_to_end_id',
  'txid',
  'metadata',
  'customer',
  'payment_link',
  'delivery',
  'url',
]);

export interface XlsxInput<R> {
  readonly sheet: string;
  readonly names: readonly string[];
  readonly columns: readonly Column<R>[];
  readonly rows: AsyncIterable<R>;
  readonly locale: ReportLocale | null;
  readonly maxRows?: number;
}

/**
 * Writes an Excel workbook in pieces, in constant memory. Texts are text cells, so that none runs as a formula. Rows
 * beyond the limit of a sheet go to further sheets with the same headings.
 */
export function writeXlsx<R extends Common>(input: XlsxInput<R>): AsyncIterable<Uint8Array> {
  const { sheet, names, columns, rows, locale, maxRows = MAX_ROWS } = input;
  let row: R | null = null;
  let line = -1;
  // The package reads the style of a column before it writes each of its cells. So the headings are bold, and an amount
  // has the format of its row's currency.
  const styled = columns.map((column, index) => ({
    header: cleanText(headingOf(names[index] ?? '', locale)),
    width: IDS.has(names[index] ?? '') ? ID_WIDTH : WIDTHS[column.kind],
    get style() {
      if (index === 0) line = (line + 1) % maxRows;
      return line === 0 ? HEADING : { numFmt: formatOf(column, row, locale) };
    },
  }));
  const values = async function* (): AsyncGenerator<CellValue[]> {
    for await (const next of rows) {
      row = next;
      yield columns.map((column) => valueOf(column, next, locale));
    }
  };
  // Without ZIP64, which LibreOffice 7 does not read in a streamed file: a sheet has at most 4 GiB of XML.
  const options = { name: sheet, columns: styled, freezePane: { rows: 1 }, maxRowsPerSheet: maxRows };
  return writeXlsxStream(values(), options);
}

function valueOf<R extends Common>(column: Column<R>, row: R, locale: ReportLocale | null): CellValue {
  switch (column.kind) {
    case 'money': {
      const amount = column.of(row);
      return amount === null ? null : amount / 10 ** digitsOf(row.currency);
    }
    case 'count':
      return column.of(row);
    case 'day': {
      const at = column.of(row);
      return at === null ? null : new Date(`${saoPauloDay(at)}T00:00:00Z`);
    }
    case 'time': {
      const at = column.of(row);
      // A spreadsheet has no zones: the cell holds what the clock shows.
      return at === null || locale === null ? at : new Date(`${saoPauloLocal(at)}Z`);
    }
    case 'text':
    case 'tax_id': {
      const text = textOf(column, row, locale);
      return text === null ? null : cleanText(text);
    }
  }
}

/** The text as a cell can hold it. Spreadsheet programs read `_x0041_` as the sign of that number. */
function cleanText(text: string): string {
  const whole = withoutTurns(text).toWellFormed();
  return whole
    .slice(0, MAX_TEXT)
    .toWellFormed()
    .replace(/[\ufffe\uffff]/g, '')
    .replace(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_');
}

function formatOf<R extends Common>(column: Column<R>, row: R | null, locale: ReportLocale | null): string {
  switch (column.kind) {
    case 'money':
      return moneyFormat(row?.currency ?? 'BRL');
    case 'count':
      return '0';
    case 'day':
      return locale === null ? 'yyyy-mm-dd' : 'dd/mm/yyyy';
    case 'time':
      return locale === null ? 'yyyy-mm-dd hh:mm:ss' : 'dd/mm/yyyy hh:mm:ss';
    case 'text':
    case 'tax_id':
      return '@';
  }
}

/** Each program writes the separators of its own language. */
function moneyFormat(currency: string): string {
  const number = `#,##0.${'0'.repeat(digitsOf(currency))}`;
  const symbol = currency === 'BRL' ? '"R$"' : `"${currency}"`;
  return `${symbol} ${number};-${symbol} ${number}`;
}
