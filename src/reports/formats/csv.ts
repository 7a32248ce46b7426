import type { Column } from './columns.js';

/** What spreadsheet programs take for the beginning of a formula, in the widths of East Asia too. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const TO_BE_QUOTED = /[",\r\n]/;

function cell<R>(column: Column<R>, row: R): string {
  const value = column.of(row) ?? '';
  if (column.isNumber) return value;
  return quoted(FORMULA.test(value) ? `'${value}` : value);
}

function quoted(value: string): string {
  return TO_BE_QUOTED.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** By RFC 4180. */
export function csvHeader(names: readonly string[]): string {
  return `${names.map(quoted).join(',')}\r\n`;
}

/** One line of each row. A text that a spreadsheet would run as a formula begins with an apostrophe. */
export function csvLines<R>(columns: readonly Column<R>[], rows: readonly R[]): string {
  return rows.map((row) => `${columns.map((column) => cell(column, row)).join(',')}\r\n`).join('');
}
