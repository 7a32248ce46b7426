/** One SQL text with a name: the server parses and plans it once per connection instead of at every call. */
export interface Statement {
  /** Only what reads, without a lock, may be asked outside a transaction: a write by the `Reader` does not compile. */
  readonly kind: 'read' | 'write';
  readonly name: string;
  readonly text: string;
  /**
   * It may take any time: `statement_timeout` is off where it runs, to the end of its transaction, and nobody gives up
   * waiting for its answer.
   */
  readonly isUnhurried: boolean;
  /** A column of its answer has a dot in its name: `"account.id"` is the `id` of the row's `account`. */
  readonly isNested: boolean;
}

export type ReadStatement = Statement & { readonly kind: 'read' };
export type WriteStatement = Statement & { readonly kind: 'write' };

/** @param name unique in the whole project, at most 63 bytes (PostgreSQL's limit for names) */
export function read(name: string, text: string, isUnhurried = false): ReadStatement {
  return { kind: 'read', name, text, isUnhurried, isNested: isNested(text) };
}

/** What writes or locks; its name as that of `read`. */
export function write(name: string, text: string, isUnhurried = false): WriteStatement {
  return { kind: 'write', name, text, isUnhurried, isNested: isNested(text) };
}

const isNested = (text: string): boolean => /\bAS "\w+\.\w+"/.test(text);

/** How pg is to give the rows: those of a nested statement are put together here, from their values. */
export function rowModeOf({ isNested }: Statement): { rowMode?: 'array' } {
  return isNested ? { rowMode: 'array' } : {};
}

type Path = readonly [outer: string, inner?: string];

/** Names taken apart once and not at every answer: the columns of a statement never change. */
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
 * Before the statements of a queue. Prepared statements keep the plan they were given, and the one made while a table is
 * empty, as queues are most of the time, reads all of it for ever (until statistics are gathered): 100 ms for each claim
 * with 200 000 rows instead of 3.
 */
export const BY_INDEX = write(
  'database.by_index',
  `SELECT ${WHOLE_TABLES.map((plan) => `set_config('${plan}', 'off', true)`).join(', ')}`,
);
