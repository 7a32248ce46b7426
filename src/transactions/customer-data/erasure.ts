import {
  type PersonalColumn,
  personalColumnsOf,
  sealedColumns,
  type WriteStatement,
  write,
} from '../../core/database/index.js';

/** Subjects of events and deliveries for the transactions $1: the transactions and their cases. */
const SUBJECTS = `SELECT unnest($1::uuid[]) UNION ALL SELECT id FROM med_cases WHERE transaction_id = ANY ($1::uuid[])`;

const OF_TRANSACTION = 'transaction_id = ANY ($1::uuid[])';

/** Conditions that select the rows of the transactions $1, for tables without a `transaction_id` of their own. */
const ROWS: Readonly<Record<string, string>> = {
  idempotency_keys: `(resource_id = ANY ($1::uuid[]) OR resource_id IN (SELECT id FROM refunds WHERE ${OF_TRANSACTION}))`,
  transactions: 'id = ANY ($1::uuid[])',
  events: `subject_id IN (${SUBJECTS})`,
  webhook_messages: `id IN (SELECT message_id FROM webhook_deliveries WHERE subject_id IN (${SUBJECTS}))`,
  webhook_attempts: `delivery_id IN (SELECT id FROM webhook_deliveries WHERE subject_id IN (${SUBJECTS}))`,
};

/** Tables that other code locks too, in the order of docs/design/lock-order.md. */
const LOCK_ORDER = ['idempotency_keys', 'transactions', 'refunds', 'med_cases'];

/** An entity with its table, under the names of TypeORM's metadata. */
export interface MappedTable {
  readonly target: unknown;
  readonly tableName: string;
  readonly columns: readonly { readonly databaseName: string }[];
}

interface PersonalTable {
  readonly table: string;
  readonly rows: string;
  readonly columns: readonly PersonalColumn[];
}

/** Blanks columns; $1 the transactions, $2 whether the merchant's own words go too. */
export interface Blanking {
  readonly table: string;
  readonly statement: WriteStatement;
}

/**
 * Sealed JSON about a transaction: `find` returns it with the context that binds it to its row, `replace` writes it.
 */
export interface SealedCopy {
  readonly table: string;
  readonly find: WriteStatement;
  readonly replace: WriteStatement;
}

/** @throws Error for a table that nothing ties to a transaction: its rows would never be erased */
function personalTables(tables: readonly MappedTable[]): PersonalTable[] {
  const found = tables.flatMap(({ target, tableName: table, columns: all }) => {
    const columns = personalColumnsOf(target).filter(({ erased }) => erased !== 'never');
    if (columns.length === 0) return [];
    const isTied = all.some(({ databaseName }) => databaseName === 'transaction_id');
    const rows = ROWS[table] ?? (isTied ? OF_TRANSACTION : undefined);
    if (rows === undefined) throw new Error(`Nothing says which rows of ${table} belong to a transaction: see ROWS`);
    return [{ table, rows, columns }];
  });
  const rank = ({ table }: PersonalTable): number => LOCK_ORDER.indexOf(table) + 1 || LOCK_ORDER.length + 1;
  return found.sort((a, b) => rank(a) - rank(b) || (a.table < b.table ? -1 : 1));
}

export function blankings(tables: readonly MappedTable[]): Blanking[] {
  return personalTables(tables).flatMap(({ table, rows, columns }) => {
    const plain = columns.filter(({ isCopy }) => !isCopy);
    if (plain.length === 0) return [];
    const values = new Map<string, string>();
    for (const column of plain) values.set(column.name, blanked(column, values.get(column.name) ?? column.name));
    const set = [...values].map(([name, value]) => `${name} = ${value}`).join(', ');
    const text = `UPDATE ${table} SET ${set}
      WHERE ${rows} AND $2::boolean IS NOT NULL AND (${plain.map(isThere).join(' OR ')}) RETURNING 1`;
    return [{ table, statement: write(`customer_data.blank_${table}`, text) }];
  });
}

export function sealedCopies(tables: readonly MappedTable[]): SealedCopy[] {
  return personalTables(tables).flatMap(({ table, rows, columns }) =>
    columns
      .filter(({ isCopy }) => isCopy)
      .map(({ target, property, name }) => {
        const sealed = sealedColumns().find((one) => one.target === target && one.property === property);
        if (!sealed) throw new Error(`${table}.${name} is a copy of personal data and is not sealed`);
        const find = `SELECT ctid::text AS id, ${name} AS json, ${sealed.context} AS context FROM ${table}
          WHERE ${rows} AND ${name} IS NOT NULL FOR UPDATE`;
        return {
          table,
          find: write(`customer_data.find_${table}`, find),
          replace: write(`customer_data.replace_${table}`, `UPDATE ${table} SET ${name} = $2 WHERE ctid = $1::tid`),
        };
      }),
  );
}

function blanked({ path, empty, erased }: PersonalColumn, before: string): string {
  const at = `'{${path.join(',')}}'`;
  const inside =
    empty === undefined ? `${before} #- ${at}` : `jsonb_set(${before}, ${at}, '${JSON.stringify(empty)}', false)`;
  const value = path.length > 0 ? inside : literal(empty);
  return erased === 'with_metadata' ? `CASE WHEN $2 THEN ${value} ELSE ${before} END` : value;
}

/** Returns the condition that a row has a value to blank. */
function isThere({ name, path, empty, erased }: PersonalColumn): string {
  const value = path.length > 0 ? `${name} #>> '{${path.join(',')}}'` : name;
  // As text: `json` has no equality.
  const test = path.length > 0 ? `${value} IS NOT NULL` : `${value}::text IS DISTINCT FROM ${literal(empty)}`;
  return erased === 'with_metadata' ? `$2 AND ${test}` : test;
}

function literal(empty: unknown): string {
  if (empty === null) return 'NULL';
  return typeof empty === 'string' ? `'${empty}'` : `'${JSON.stringify(empty)}'`;
}

/** Returns the columns that a person may see. Sealed columns hold the bank's report, and copies add nothing. */
function shown(entity: unknown): PersonalColumn[] {
  return personalColumnsOf(entity).filter(
    ({ path, isCopy, target, property }) =>
      path.length === 0 &&
      !isCopy &&
      !sealedColumns().some((sealed) => sealed.target === target && sealed.property === property),
  );
}

/** Returns a select list of a transaction's personal columns, and of those of its related rows, by table. */
export function exported(tables: readonly MappedTable[]): string {
  const own = tables.filter(({ tableName }) => tableName === 'transactions').flatMap(({ target }) => shown(target));
  const related = tables.flatMap(({ target, tableName, columns }) => {
    const personal = columns.some(({ databaseName }) => databaseName === 'transaction_id') ? shown(target) : [];
    if (personal.length === 0) return [];
    const fields = personal.map(({ name, property }) => `'${snakeCase(property)}', r.${name}`).join(', ');
    return [
      `'${tableName}', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', r.id, ${fields}) ORDER BY r.id), '[]')
         FROM ${tableName} r WHERE r.transaction_id = t.id)`,
    ];
  });
  return [
    ...own.map(({ name, property }) => `t.${name} AS ${snakeCase(property)}`),
    `jsonb_build_object(${related.join(', ')}) AS related`,
  ].join(', ');
}

function snakeCase(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
