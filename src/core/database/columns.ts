import { getMetadataArgsStorage } from 'typeorm';
import { type RowWrite, wanted } from './rows.js';
import { write, type WriteStatement } from './statement.js';

/** A class whose properties are columns: an entity, or its base class with the part that the domain reads. */
export type RowClass<R> = new () => R;

interface Column {
  /** The property; with a dot for a property of an object within the row. */
  readonly property: string;
  readonly name: string;
  readonly type: string;
  readonly isArray: boolean;
  readonly isNullable: boolean;
  /** Makes the expression of a computed column from the alias of its table. */
  readonly query: ((alias: string) => string) | undefined;
}

interface Choice<R> {
  readonly only?: readonly (keyof R)[];
  readonly without?: readonly (keyof R)[];
}

/** Reads the columns when a module is loaded, from the decorators: no connection is needed. */
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
  /** Columns that are not written: they keep their value or get the table's default. */
  readonly without?: readonly K[];
  /** SQL behind the values: ON CONFLICT, RETURNING. */
  readonly after?: string;
}

interface InsertOptions<R, K> extends WriteOptions<K> {
  /**
   * Key that orders several inserted rows. If others may insert the same rows, without an order two transactions wait
   * for each other.
   */
  readonly inOrderOf?: readonly (keyof R)[];
}

/** A statement that also makes its values from a row: `writeRow(tx, INSERT, row)`. */
export interface Write<R> extends WriteStatement {
  valuesOf(row: R): unknown[];
}

/**
 * Makes an INSERT of a row of an entity, without computed columns and those left to the table's defaults. The statement
 * `all` inserts any number of rows; there the parameters are the columns.
 */
export function insertInto<R, K extends keyof R = never>(
  name: string,
  entity: RowClass<R>,
  { inOrderOf, ...options }: InsertOptions<R, K> = {},
): RowWrite<Omit<R, K>> {
  const columns = stored(entity, options);
  const values = `VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`;
  // PostgreSQL would unnest an array of arrays down to its last element: each array travels as text.
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
 * Makes an UPDATE of an entity's columns, except those that `without` names. The values begin with parameter `first`;
 * the parameters before it belong to `after`, which selects the row.
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

/** Lists the written columns, each with a function that takes its value from a row. */
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
      // JSON travels as text, because pg writes a JavaScript array as a PostgreSQL array.
      return { ...column, of: (row) => ((value) => (value == null ? value : JSON.stringify(value)))(take(row)) };
    });
}

type Nullable<R> = { readonly [K in keyof R as null extends R[K] ? K : never]: null };

/** Returns every nullable column of a class as null: the initial state of a new row. */
export function nullsOf<R>(row: RowClass<R>): Nullable<R> {
  const nulls = describe(row).filter(({ isNullable }) => isNullable);
  return Object.fromEntries(nulls.map(({ property }) => [property, null])) as Nullable<R>;
}
