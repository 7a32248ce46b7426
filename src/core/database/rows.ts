import { read, type Statement, write, type WriteStatement } from './statement.js';

type Values = readonly unknown[];

/** Writes one row, and any number of rows by one statement: `writeRow(tx, INSERT, row)`. */
export interface RowWrite<R> extends WriteStatement {
  valuesOf(row: R): unknown[];
  /** Statement that writes several rows. */
  readonly all: WriteStatement & { valuesOf(rows: readonly R[]): unknown[] };
  /** When several rows are written together, this statement comes last: it locks rows that many wait for. */
  readonly isLast: boolean;
}

/**
 * Query for at most one row, which several callers can share: one statement then serves their lists of values. Use:
 * `queryRow(tx, LOCK, values)`.
 */
export interface RowQuery extends Statement {
  /**
   * Statement for several lists, with columns of values as parameters. Each row names in `#` the list it belongs to,
   * from 1.
   */
  readonly all: Statement;
}

/** Makes a table `w` from parameters that are columns of values: `p1`, `p2` … and the row number `n`, from 1. */
export function wanted(types: readonly string[]): string {
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`);
  const names = types.map((_, index) => `p${index + 1}`);
  return `unnest(${arrays.join(', ')}) WITH ORDINALITY AS w (${names.join(', ')}, n)`;
}

/**
 * Makes a statement for one row that several callers may share.
 * @param types SQL types of the statement's parameters
 */
export function oneOf<S extends Statement>(statement: S, ...types: string[]): S & RowQuery {
  const text = statement.text.replaceAll(/\$(\d+)/g, 'w.p$1');
  // `OFFSET 0` keeps a lookup for each row. As a join, planned while the table is small, it would read the whole grown
  // table.
  const all = `SELECT w.n AS "#", l.* FROM ${wanted(types)} CROSS JOIN LATERAL (${text} OFFSET 0) l`;
  const name = `${statement.name}_each`;
  return { ...statement, all: statement.kind === 'read' ? read(name, all) : write(name, all) };
}

/**
 * Combines a write of one row and a write of several rows, both of the same values.
 * @param all its parameters are the columns of these values
 */
export function rowWrite<R>(
  one: WriteStatement,
  all: WriteStatement,
  valuesOf: (row: R) => unknown[],
  isLast = false,
): RowWrite<R> {
  return { ...one, valuesOf, all: { ...all, valuesOf: (rows) => columns(rows.map(valuesOf)) }, isLast };
}

/** Combines a query for one row with a hand-written query for several rows, which begins from `wanted`. */
export function rowQuery<S extends Statement>(one: S, all: Statement): S & RowQuery {
  return { ...one, all };
}

/** Turns lists of values, all of one length, into one list for each place in them. */
export function columns(lists: readonly Values[]): unknown[][] {
  return (lists[0] ?? []).map((_, index) => lists.map((values) => values[index]));
}

/** Returns for each field the values of all rows: the parameters of a statement that unnests them. */
export function valuesOfFields<R>(rows: readonly R[], ...fields: (keyof R)[]): unknown[][] {
  return fields.map((field) => rows.map((row) => row[field]));
}

interface Asked {
  readonly values: Values;
  resolve(row: unknown): void;
  reject(error: unknown): void;
}

type Row = Record<string, unknown>;

/**
 * Combines the queries of one turn of the event loop: under load one statement answers many. A single query waits for
 * the end of its turn. Nothing is cached: every answer was read after its query was made.
 */
export class RowQuestions {
  readonly #asked = new Map<RowQuery, Asked[]>();

  constructor(private readonly query: (statement: Statement, values: Values) => Promise<Row[]>) {}

  ask<R>(statement: RowQuery, values: Values): Promise<R | null> {
    return new Promise<R | null>((resolve, reject) => {
      if (this.#asked.size === 0) setImmediate(() => this.#askAll());
      const asked: Asked = { values, resolve, reject };
      const others = this.#asked.get(statement);
      if (others) others.push(asked);
      else this.#asked.set(statement, [asked]);
    });
  }

  #askAll(): void {
    const all = [...this.#asked];
    this.#asked.clear();
    for (const [statement, asked] of all) void this.#answer(statement, asked);
  }

  async #answer(statement: RowQuery, asked: Asked[]): Promise<void> {
    const [only, ...others] = asked;
    try {
      if (only && others.length === 0) {
        only.resolve((await this.query(statement, only.values))[0] ?? null);
        return;
      }
      // Sort alike in every process: two processes that lock the same rows then wait instead of deadlocking.
      asked.sort((a, b) => (String(a.values[0]) < String(b.values[0]) ? -1 : 1));
      const rows = await this.query(statement.all, columns(asked.map(({ values }) => values)));
      const found = new Map(rows.map(({ '#': place, ...row }) => [Number(place), row]));
      asked.forEach((one, index) => one.resolve(found.get(index + 1) ?? null));
    } catch (error) {
      for (const one of asked) one.reject(error);
    }
  }
}
