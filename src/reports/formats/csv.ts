import { withoutTurns } from '../../core/text.js';
import type { Column } from './columns.js';

/** What a formula begins with, in the widths of East Asia too. */
const FORMULA = /[=+\-@\uff1d\uff0b\uff0d\uff20]/;
/** What separates cells or lines where a spreadsheet program is set to another sign than the comma, as in Brazil. */
const SEPARATORS = ';\t\r\n';
/** Blanks and invisible characters: some programs look behind them. */
const INVISIBLE = /[\s\p{Cc}\p{Cf}]/u;
const TO_BE_QUOTED = /[",\r\n]/;

function cell<R>(column: Column<R>, row: R): string {
  const value = column.of(row) ?? '';
  if (column.isNumber) return value;
  return quoted(harmless(withoutTurns(value)));
}

/** Puts an apostrophe wherever a program may see a cell begin with a formula. */
function harmless(value: string): string {
  if (!FORMULA.test(value)) return value;
  let written = '';
  let begins = true;
  for (const sign of value) {
    if (begins && FORMULA.test(sign)) written += "'";
    written += sign;
    // Where the separator is another one, a quotation mark opens a cell, as at its beginning.
    begins = SEPARATORS.includes(sign) || (begins && (sign === '"' || INVISIBLE.test(sign)));
  }
  return written;
}

function quoted(value: string): string {
  return TO_BE_QUOTED.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** The header line, by RFC 4180. */
export function csvHeader(names: readonly string[]): string {
  return `${names.map((name) => quoted(harmless(name))).join(',')}\r\n`;
}

/** The line of a row. A text that a spreadsheet would run as a formula begins with an apostrophe. */
export function csvLine<R>(columns: readonly Column<R>[], row: R): string {
  return `${columns.map((column) => cell(column, row)).join(',')}\r\n`;
}
