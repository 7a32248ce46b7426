import { saoPauloDay, saoPauloLocal } from '../../brazil/index.js';
import { decimalText } from '../../core/money/index.js';
import { withoutTurns } from '../../core/text.js';
import type { ReportLocale } from '../report.entity.js';
import { type Column, type Common, headingOf, textOf } from './columns.js';

/** Signs that begin a formula, in East Asian widths too. */
const FORMULA = /[=+\-@\uff1d\uff0b\uff0d\uff20]/;
/** Blanks and invisible characters: some programs skip them before a formula. */
const INVISIBLE = /[\s\p{Cc}\p{Cf}]/u;
/** Excel reads UTF-8 as such only behind a byte-order mark. */
const BYTE_ORDER_MARK = '\ufeff';
/** A text that a spreadsheet program may take for a number or a date. */
const NUMERIC = /^[\d\s.,:/%()e+-]+$/i;
const DIGIT = /\d/;
/** A number that a spreadsheet program shows as it was written. */
const HARMLESS_NUMBER = /^(?:0|[1-9]\d{0,14})$/;

interface Style {
  readonly separator: string;
  readonly toBeQuoted: RegExp;
  /** Signs that separate cells or lines when a spreadsheet program uses another separator than the file. */
  readonly others: string;
}

const AS_RFC_4180: Style = { separator: ',', toBeQuoted: /[",\r\n]/, others: ';\t\r\n' };
/** A comma is quoted too: a program that also separates at commas keeps an amount in one cell. */
const IN_BRAZIL: Style = { separator: ';', toBeQuoted: /[",;\t\r\n]/, others: ',;\t\r\n' };

function styleOf(locale: ReportLocale | null): Style {
  return locale === null ? AS_RFC_4180 : IN_BRAZIL;
}

function cell<R extends Common>(column: Column<R>, row: R, locale: ReportLocale | null): string {
  switch (column.kind) {
    case 'money': {
      const amount = column.of(row);
      const decimal = amount === null ? '' : decimalText(amount, row.currency);
      return locale === null ? decimal : decimal.replace('.', ',');
    }
    case 'count':
      return column.of(row)?.toString() ?? '';
    case 'day': {
      const at = column.of(row);
      if (at === null) return '';
      return locale === null ? saoPauloDay(at) : brazilianDay(saoPauloDay(at));
    }
    case 'time': {
      const at = column.of(row);
      if (at === null) return '';
      if (locale === null) return at.toISOString();
      const [date = '', time = ''] = saoPauloLocal(at).split('T');
      return `${brazilianDay(date)} ${time}`;
    }
    case 'text':
    case 'tax_id': {
      const text = textOf(column, row, locale) ?? '';
      // Words of ours and a tax id with its marks are no number.
      const isOwn = locale === null || text !== column.of(row);
      return harmless(withoutTurns(isOwn ? text : keptAsText(text)), locale);
    }
  }
}

/** @param day `2026-11-23` @returns `23/11/2026` */
function brazilianDay(day: string): string {
  return day.split('-').reverse().join('/');
}

/** Adds an apostrophe before digits that a program would change: the zeros of `0042`, the end of a long id, a date. */
function keptAsText(value: string): string {
  if (!NUMERIC.test(value) || !DIGIT.test(value) || HARMLESS_NUMBER.test(value) || FORMULA.test(value.charAt(0)))
    return value;
  return `'${value}`;
}

/** Adds an apostrophe wherever a program may see a formula at the beginning of a cell. */
function harmless(value: string, locale: ReportLocale | null): string {
  if (!FORMULA.test(value)) return value;
  const { others } = styleOf(locale);
  let written = '';
  let begins = true;
  for (const sign of value) {
    if (begins && FORMULA.test(sign)) written += "'";
    written += sign;
    // Any separator begins a new cell. A quotation mark or invisible sign at its beginning may still precede a formula.
    begins = others.includes(sign) || (begins && (sign === '"' || INVISIBLE.test(sign)));
  }
  return written;
}

function line(cells: readonly string[], locale: ReportLocale | null): string {
  const { separator, toBeQuoted } = styleOf(locale);
  const quoted = cells.map((text) => (toBeQuoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text));
  return `${quoted.join(separator)}\r\n`;
}

/** The header line: of RFC 4180, or of a file that a Brazilian spreadsheet program opens at a double click. */
export function csvHeader(names: readonly string[], locale: ReportLocale | null): string {
  const headings = names.map((name) => harmless(headingOf(name, locale), locale));
  return `${locale === null ? '' : BYTE_ORDER_MARK}${line(headings, locale)}`;
}

/** The CSV line of a row. If a spreadsheet would run a text as a formula, an apostrophe precedes it. */
export function csvLine<R extends Common>(columns: readonly Column<R>[], row: R, locale: ReportLocale | null): string {
  return line(
    columns.map((column) => cell(column, row, locale)),
    locale,
  );
}
