import { withoutTurns } from '../../core/text.js';
import type { Column } from './columns.js';

/** Signs that begin a formula, in East Asian widths too. */
const FORMULA = /[=+\-@\uff1d\uff0b\uff0d\uff20]/;
/**
 * Signs that separate cells or lines when a spreadsheet program uses another separator than the comma, as in Brazil.
 */
const SEPARATORS = ';\t\r\n';
/** Blanks and invisible characters: some programs skip them before a formula. */
const INVISIBLE = /[\s\p{Cc}\p{Cf}]/u;
const TO_BE_QUOTED = /[",\r\n]/;

function cell<R>(column: Column<R>, row: R): string {
  const value = column.of(row) ?? '';
  if (column.isNumber) return value;
  return quoted(harmless(withoutTurns(value)));
}

/** Adds an apostrophe wherever a program may see a formula at the beginning of a cell. */
function harmless(value: string): string {
  if (!FORMULA.test(value)) return value;
  let written = '';
  let begins = true;
  for (const sign of value) {
    if (begins && FORMULA.test(sign)) written += "'";
    written += sign;
    // Any separator begins a new cell. A quotation mark or invisible sign at its beginning may still precede a formula.
    begins = SEPARATORS.includes(sign) || (begins && (sign === '"' || INVISIBLE.test(sign)));
  }
  return written;
}

function quoted(value: string): string {
  return TO_BE_QUOTED.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** The header line, as in RFC 4180. */
export function csvHeader(names: readonly string[]): string {
  return `${names.map((name) => quoted(harmless(name))).join(',')}\r\n`;
}

/** The CSV line of a row. If a spreadsheet would run a text as a formula, an apostrophe precedes it. */
export function csvLine<R>(columns: readonly Column<R>[], row: R): string {
  return `${columns.map((column) => cell(column, row)).join(',')}\r\n`;
}
