/** An SQL text with a name: the server parses and plans it once per connection instead of at every call. */
export interface Statement {
  /**
   * Statements that only read, without a lock, may run outside a transaction: a write by the `Reader` does not compile.
   */
  readonly kind: 'read' | 'write';
  readonly name: string;
  readonly text: string;
  /**
   * The statement may take any time: `statement_timeout` is off from here to the end of its transaction. The client
   * sets no limit on the answer either.
   */
  readonly isUnhurried: boolean;
  /** A column of the answer has a dot in its name: `"account.id"` is the `id` of the row's `account`. */
  readonly isNested: boolean;
}

export type ReadStatement = Statement & { readonly kind: 'read' };
export type WriteStatement = Statement & { readonly kind: 'write' };

/** @param name unique in the whole project, at most 63 bytes (PostgreSQL's limit for names) */
export function read(name: string, text: string, isUnhurried = false): ReadStatement {
  return { kind: 'read', name, text, isUnhurried, isNested: isNested(text) };
}

/** Makes a statement that writes or locks; for its name see `read`. */
export function write(name: string, text: string, isUnhurried = false): WriteStatement {
  return { kind: 'write', name, text, isUnhurried, isNested: isNested(text) };
}

const isNested = (text: string): boolean => /\bAS "\w+\.\w+"/.test(text);

/** Tells pg how to return the rows: those of a nested statement are built here, from their values. */
export function rowModeOf({ isNested }: Statement): { rowMode?: 'array' } {
  return isNested ? { rowMode: 'array' } : {};
}

type Path = readonly [outer: string, inner?: string];

/** Paths of a statement's columns, parsed once and not at every answer: the columns never change. */
const PATHS = new WeakMap<Statement, Path[]>();

export function rowsOf<R>(
  statement: Statement,
  { fields, rows }: { readonly fields: readonly { readonly name: string }[]; readonly rows: R[] },
): R[] {
  if (!statement.isNested) return rows;
  const paths = PATHS.get(statement) ?? fields.map(({ name }) => name.split('.') as unknown as Path);
  PATHS.set(statement, paths);
  return (rows as unknown[][]).map((values) => {
    const row: Record<string, unknown> = {};
    paths.forEach(([outer, inner], index) => {
      if (inner === undefined) row[outer] = values[index];
      else ((row[outer] ??= {}) as Record<string, unknown>)[inner] = values[index];
    });
    return row as R;
  });
}

/** Plans that read whole tables. */
const WHOLE_TABLES = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'];

/** `BY_INDEX` as commands, which may stand behind a BEGIN. */
export const SET_BY_INDEX = WHOLE_TABLES.map((plan) => `SET LOCAL ${plan} = off`).join('; ');

/**
 * Run this before the statements of a queue. Queues are mostly empty, and a plan prepared for an empty table reads all
 * of it. A prepared statement keeps that plan until statistics are gathered: 100 ms for each claim with 200 000 rows
 * instead of 3.
 */
export const BY_INDEX = write(
  'database.by_index',
  `SELECT ${WHOLE_TABLES.map((plan) => `set_config('${plan}', 'off', true)`).join(', ')}`,
);
