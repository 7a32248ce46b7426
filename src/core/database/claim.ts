import { write, type WriteStatement } from './statement.js';

/** Rows that are due. `$1` is the time, `$2` the limit; further parameters belong to the caller. */
interface Due {
  /** Time or id from which a row is due, as the expression of an index. The oldest rows are taken first. */
  readonly dueAt: string;
  /** Rows are due up to this time. */
  readonly until?: string;
  /** Further conditions. */
  readonly where?: string;
}

interface Found extends Due {
  /**
   * Unique column. `ctid` serves a table with a compound key. By `ctid`, rows that change during the claim are left to
   * the next one.
   */
  readonly key?: string;
}

interface Claim extends Found {
  /**
   * Columns that keep other workers away. A lease is a later time in the column of `dueAt`: if its worker dies, the row
   * is due again. A claim that is worked in its own transaction needs no lease: a rollback ends it.
   */
  readonly set: string;
  readonly returning?: string;
}

/**
 * Selects due rows and locks them until the end of the transaction. Rows that another worker has locked are skipped, so
 * each is taken by one worker, and nobody waits.
 */
export function lockDue(columns: string, table: string, { dueAt, until = '$1', where }: Due): string {
  const condition = `${dueAt} <= ${until}${where === undefined ? '' : ` AND ${where}`}`;
  return `SELECT ${columns} FROM ${table} WHERE ${condition} ORDER BY ${dueAt} LIMIT $2 FOR UPDATE SKIP LOCKED`;
}

/**
 * Makes the condition for due rows, which it locks. Why an array: PostgreSQL makes it once and looks each key up in the
 * index. A join may read the whole table, or lock anew for each row that it updates and so exceed the limit.
 */
const lockedDue = (table: string, { key = 'id', ...due }: Found): string =>
  `WHERE ${key} = ANY (ARRAY(${lockDue(key, table, due)}))`;

/** Makes a statement that claims due rows. @param name as of `write` @param table with its alias, if conditions use one */
export function claimDue(name: string, table: string, { set, returning = '1', ...due }: Claim): WriteStatement {
  return write(name, `UPDATE ${table} SET ${set} ${lockedDue(table, due)} RETURNING ${returning}`);
}

/** Makes a statement that removes due rows and returns one row for each. */
export function removeDue(name: string, table: string, due: Found): WriteStatement {
  return write(name, `DELETE FROM ${table} ${lockedDue(table, due)} RETURNING 1`);
}
