import { getMetadataArgsStorage } from 'typeorm';
import { type Statement, statement } from './statement.js';

/** A class whose properties are columns: an entity, or the class it extends with what the domain reads of it. */
export type RowClass<R> = new () => R;

interface Column {
  /** With a dot: of an object within the row. */
  readonly property: string;
  readonly name: string;
  readonly isJson: boolean;
  readonly isNullable: boolean;
  /** Of a computed column, by the alias of its table. */
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
    isJson: options.type === 'jsonb',
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

/** A statement that inserts one row: `tx.defer(INSERT, INSERT.valuesOf(row))`. */
export interface Insert<R> extends Statement {
  valuesOf(row: R): unknown[];
}

/**
 * Inserts rows of an entity, with all its columns but the computed ones and those that the table's defaults fill.
 * @param options.after what follows VALUES: ON CONFLICT, RETURNING
 */
export function insertInto<R, K extends keyof R = never>(
  name: string,
  entity: RowClass<R>,
  { without = [], after = '' }: { readonly without?: readonly K[]; readonly after?: string } = {},
): Insert<Omit<R, K>> {
  const table = getMetadataArgsStorage().tables.find(({ target }) => target === entity)?.name;
  if (table === undefined) throw new Error(`${entity.name} has no table`);
  const columns = describe(entity, { without }).filter(({ query }) => !query);
  const text = `INSERT INTO ${table} (${columns.map((column) => column.name).join(', ')})
    VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')}) ${after}`;
  const paths = columns.map(({ property, isJson }) => ({ path: property.split('.'), isJson }));
  return {
    ...statement(name, text),
    valuesOf: (row) =>
      paths.map(({ path: [outer = '', inner], isJson }) => {
        const outerValue = (row as Record<string, unknown>)[outer];
        const value = inner === undefined ? outerValue : (outerValue as Record<string, unknown>)[inner];
        return isJson && value !== null && value !== undefined ? JSON.stringify(value) : value;
      }),
  };
}

type Nullable<R> = { readonly [K in keyof R as null extends R[K] ? K : never]: null };

/** Every nullable column of its own as null: what a new row is before anything has happened to it. */
export function nullsOf<R>(row: RowClass<R>): Nullable<R> {
  const nulls = describe(row).filter(({ isNullable }) => isNullable);
  return Object.fromEntries(nulls.map(({ property }) => [property, null])) as Nullable<R>;
}
