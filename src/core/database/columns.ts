import { getMetadataArgsStorage } from 'typeorm';
import { type RowWrite, wanted } from './rows.js';
import { write, type WriteStatement } from './statement.js';

/** A class whose properties are columns: an entity, or the class it extends with what the domain reads of it. */
export type RowClass<R> = new () => R;

interface Column {
  /** The property; with a dot where it is one of an object within the row. */
  readonly property: string;
  readonly name: string;
  readonly type: string;
  readonly isArray: boolean;
  readonly isNullable: boolean;
  /** The expression of a computed column, by the alias of its table. */
  readonly query: ((alias: string) => string) | undefined;
}

interface Choice<R> {
  readonly only?: readonly (keyof R)[];
  readonly without?: readonly (keyof R)[];
}

/** Read when a module is loaded, as the decorators have left it: no connection is needed. */
function describe<R>(row: RowClass<R>, { only, without }: Choice<R> = {}): Column[] {
  const { columns, embeddeds } = getMetadataArgsStorage();
  const isWanted = ({ target, propertyName }: { target: unknown; propertyName: string }): boolean =>
    (target === row || (typeof target === 'function' && row.prototype instanceof target)) &&
    (only?.includes(propertyName as keyof R) ?? true) &&
    !without?.includes(propertyName as keyof R);
  const own = columns.filter(isWanted).map(({ propertyName, options }) => ({
    property: propertyName,
    name: options.name ?? propertyName,
    type: String(options.type),
    isArray: options.array === true,
    isNullable: options.nullable === true,
    query: options.query,
  }));
  const embedded = embeddeds.filter(isWanted).flatMap(({ propertyName, type }) =>
    describe(type() as RowClass<unknown>).map((column) => ({
      ...column,
      property: `${propertyName}.${column.property}`,
      isNullable: false,
    })),
  );
  if (own.length + embedded.length === 0) throw new Error(`${row.name} has no such columns`);
  return [...own, ...embedded];
}

/**
 * A select list that makes PostgreSQL answer with rows of this class: `t.id, t.account_id AS "accountId"`.
 * @param choice.within the property of the row that the columns are put into, for rows joined from several tables
 */
export function columnsOf<R>(
  row: RowClass<R>,
  alias: string,
  { within, ...choice }: Choice<R> & { readonly within?: string } = {},
): string {
  return describe(row, choice)
    .map(({ property, name, query }) => {
      const value = query?.(alias) ?? `${alias}.${name}`;
      if (within !== undefined) return `${value} AS "${within}.${property}"`;
      return property === name && !query ? value : `${value} AS "${property}"`;
    })
    .join(', ');
}

interface WriteOptions<K> {
  /** What keeps its value, or is left to the defaults of the table. */
  readonly without?: readonly K[];
  /** What follows the values: ON CONFLICT, RETURNING. */
  readonly after?: string;
}

interface InsertOptions<R, K> extends WriteOptions<K> {
  /** The key in whose order several are inserted, where others may insert the same ones: else two wait for each other. */
  readonly inOrderOf?: readonly (keyof R)[];
}

/** A statement with what makes its values: `tx.put(INSERT, row)`. */
export interface Write<R> extends WriteStatement {
  valuesOf(row: R): unknown[];
}

/**
 * Inserts a row of an entity, with all its columns but the computed ones and those that are left to the defaults; `all`
 * of it inserts any number of rows, its parameters are the columns.
 */
export function insertInto<R, K extends keyof R = never>(
  name: string,
  entity: RowClass<R>,
  { inOrderOf, ...options }: InsertOptions<R, K> = {},
): RowWrite<Omit<R, K>> {
  const columns = stored(entity, options);
  const values = `VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`;
  // An array of arrays would be taken apart to its last element: each travels as text.
  const types = columns.map(({ type, isArray }) => (isArray ? 'text' : type));
  const selected = columns.map(({ type, isArray }, index) => `w.p${index + 1}${isArray ? `::${type}[]` : ''}`);
  const order = inOrderOf?.map((key) => `w.p${columns.findIndex(({ property }) => property === key) + 1}`);
  const rows = `SELECT ${selected.join(', ')} FROM ${wanted(types)} ORDER BY ${order?.join(', ') ?? 'w.n'}`;
  return {
    ...write(name, insertText(entity, columns, values, options.after)),
    valuesOf: (row) => columns.map((column) => column.of(row)),
    all: {
      ...write(`${name}_each`, insertText(entity, columns, rows, options.after)),
      valuesOf: (all) =>
        columns.map((column) =>
          all.map((row) => (column.isArray ? arrayText(column.of(row) as readonly string[] | null) : column.of(row))),
        ),
    },
    isLast: false,
  };
}

/** An array as PostgreSQL writes it. */
function arrayText(values: readonly string[] | null): string | null {
  return values && `{${values.map((value) => `"${value.replaceAll(/[\\"]/g, '\\$&')}"`).join(',')}}`;
}

function tableOf(entity: RowClass<unknown>): string {
  const table = getMetadataArgsStorage().tables.find(({ target }) => target === entity)?.name;
  if (table === undefined) throw new Error(`${entity.name} has no table`);
  return table;
}

function insertText(entity: RowClass<unknown>, columns: readonly Column[], values: string, after = ''): string {
  return `INSERT INTO ${tableOf(entity)} (${columns.map((column) => column.name).join(', ')}) ${values} ${after}`.trimEnd();
}

/**
 * Writes columns of a row of an entity, those that `without` does not name. What it writes begins with parameter `first`;
 * those before it are for `after`, which says which row.
 */
export function updateOf<R, K extends keyof R = never>(
  name: string,
  entity: RowClass<R>,
  { first, after, ...options }: WriteOptions<K> & { readonly first: number; readonly after: string },
): Write<Omit<R, K>> {
  const columns = stored(entity, options);
  const values = columns.map((column, index) => `${column.name} = $${first + index}`).join(', ');
  return {
    ...write(name, `UPDATE ${tableOf(entity)} SET ${values} ${after}`),
    valuesOf: (row) => columns.map((column) => column.of(row)),
  };
}

/** Columns that are written, each with how its value is taken from a row. */
function stored<R, K extends keyof R>(
  entity: RowClass<R>,
  { without = [] }: WriteOptions<K>,
): (Column & { of(row: unknown): unknown })[] {
  return describe(entity, { without })
    .filter(({ query }) => !query)
    .map((column) => {
      const [outer = '', inner] = column.property.split('.');
      const take = (row: unknown): unknown => {
        const value = (row as Record<string, unknown>)[outer];
        return inner === undefined ? value : (value as Record<string, unknown>)[inner];
      };
      if (!column.type.startsWith('json')) return { ...column, of: take };
      // An array would be taken for one of PostgreSQL's.
      return { ...column, of: (row) => ((value) => (value == null ? value : JSON.stringify(value)))(take(row)) };
    });
}

type Nullable<R> = { readonly [K in keyof R as null extends R[K] ? K : never]: null };

/** Every nullable column of its own as null: what a new row is before anything has happened to it. */
export function nullsOf<R>(row: RowClass<R>): Nullable<R> {
  const nulls = describe(row).filter(({ isNullable }) => isNullable);
  return Object.fromEntries(nulls.map(({ property }) => [property, null])) as Nullable<R>;
}
