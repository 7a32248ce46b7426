import type { SecretBox } from '../../core/crypto/index.js';
import {
  type PersonalColumn,
  personalColumnsOf,
  read,
  sealedColumns,
  type Tx,
  type WriteStatement,
  write,
} from '../../core/database/index.js';
import { withoutCustomer } from './without-customer.js';

/** Objects of one kind, which are erased with all copies of them. In the SQL `$1` are the ids of the objects. */
export interface ErasedKind {
  /** Used in names of statements. */
  readonly name: string;
  /** Column by which other tables belong to an object. */
  readonly tie: string;
  /** SELECT of the subjects of their events and deliveries. */
  readonly subjects: string;
  /** Conditions that select the rows of the objects, for tables without the column `tie`. */
  readonly rows: Readonly<Record<string, string>>;
  /**
   * Takes a person out of a sealed copy.
   * @param withMetadata whether the merchant's own words go too
   * @returns null where nothing has to go
   */
  readonly clean: (json: string, withMetadata: boolean) => string | null;
}

/** Sales: transactions, with their cases. */
export const SALES: ErasedKind = {
  name: 'sales',
  tie: 'transaction_id',
  subjects: 'SELECT unnest($1::uuid[]) UNION ALL SELECT id FROM med_cases WHERE transaction_id = ANY ($1::uuid[])',
  rows: {
    transactions: 'id = ANY ($1::uuid[])',
    idempotency_keys: `(resource_id = ANY ($1::uuid[])
      OR resource_id IN (SELECT id FROM refunds WHERE transaction_id = ANY ($1::uuid[])))`,
  },
  clean: withoutCustomer,
};

const KINDS: ErasedKind[] = [SALES];

/** Declares a further kind. A module calls it when it is loaded, before any application is made. */
export function declareErasedKind(kind: ErasedKind): void {
  KINDS.push(kind);
}

/** Returns the condition for a table's rows, or undefined if the kind has none there. */
function rowsOf({ tie, subjects, rows }: ErasedKind, { tableName, columns }: MappedTable): string | undefined {
  const copies: ErasedKind['rows'] = {
    idempotency_keys: 'resource_id = ANY ($1::uuid[])',
    events: `subject_id IN (${subjects})`,
    webhook_messages: `id IN (SELECT message_id FROM webhook_deliveries WHERE subject_id IN (${subjects}))`,
    webhook_attempts: `delivery_id IN (SELECT id FROM webhook_deliveries WHERE subject_id IN (${subjects}))`,
  };
  const isTied = columns.some(({ databaseName }) => databaseName === tie);
  return rows[tableName] ?? copies[tableName] ?? (isTied ? `${tie} = ANY ($1::uuid[])` : undefined);
}

/** Tables that other code locks too, in the order of docs/design/lock-order.md. */
const LOCK_ORDER = ['idempotency_keys', 'transactions', 'payouts', 'refunds', 'med_cases'];

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

/** Blanks columns; $1 the objects, $2 whether the merchant's own words go too. */
interface Blanking {
  readonly table: string;
  readonly statement: WriteStatement;
}

/** Sealed JSON about an object: `find` returns it with the context that binds it to its row, `replace` writes it. */
interface SealedCopy {
  readonly table: string;
  readonly find: WriteStatement;
  readonly replace: WriteStatement;
}

/** A sealed JSON copy of an event or answer; `context` binds it to its row. */
interface Copy {
  readonly id: string;
  readonly json: string;
  readonly context: string;
}

/** Changes of rows, by table. */
export type Erased = Record<string, number>;

/** Why a copy of an object is still needed. */
export type CopyWaits = 'open_delivery' | 'open_request';

/** Why copies of the objects $1 of the account $2 are still needed. */
const COPIES_WAIT = read(
  'customer_data.copies_wait',
  `SELECT s.id, CASE
     WHEN EXISTS (SELECT 1 FROM events e WHERE e.subject_id = s.id AND e.status = 'pending')
       OR EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.account_id = $2 AND d.subject_id = s.id
         AND d.status IN ('PENDING', 'PROCESSING')) THEN 'open_delivery'
     WHEN EXISTS (SELECT 1 FROM idempotency_keys k WHERE k.account_id = $2 AND k.resource_id = s.id
       AND k.response_status IS NULL) THEN 'open_request'
     END AS waits
   FROM unnest($1::uuid[]) s (id)`,
);

/** Erases the objects of one kind. `@Personal` marks the columns where they are declared. */
export class Eraser {
  readonly #kind: ErasedKind;
  readonly #copies: readonly SealedCopy[];
  readonly #blankings: readonly Blanking[];

  /** @throws Error for a table whose rows would never be erased */
  constructor(
    kind: ErasedKind,
    tables: readonly MappedTable[],
    private readonly secrets: SecretBox,
  ) {
    const personal = personalTables(kind, tables);
    this.#kind = kind;
    this.#copies = sealedCopies(kind, personal);
    this.#blankings = blankings(kind, personal);
  }

  /** Returns why copies of locked objects are still needed; null: they are not. */
  async copiesWait(tx: Tx, accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, CopyWaits | null>> {
    const rows = await tx.query<{ id: string; waits: CopyWaits | null }>(COPIES_WAIT, [ids, accountId]);
    return new Map(rows.map(({ id, waits }) => [id, waits]));
  }

  /** Erases the data from objects that are locked and wait for nothing. */
  async erase(tx: Tx, ids: readonly string[], withMetadata: boolean): Promise<Erased> {
    const erased: Erased = {};
    for (const { table, find, replace } of this.#copies) {
      erased[table] = 0;
      for (const { id, json, context } of await tx.query<Copy & Record<string, unknown>>(find, [ids])) {
        const after = this.#kind.clean(this.secrets.openText(json, context), withMetadata);
        if (after === null) continue;
        await tx.query(replace, [id, this.secrets.sealText(after, context)]);
        erased[table] += 1;
      }
    }
    for (const { table, statement } of this.#blankings) {
      erased[table] = (erased[table] ?? 0) + (await tx.query(statement, [ids, withMetadata])).length;
    }
    return erased;
  }
}

function personalTables(kind: ErasedKind, tables: readonly MappedTable[]): PersonalTable[] {
  const found = tables.flatMap((mapped) => {
    const { target, tableName: table } = mapped;
    const columns = personalColumnsOf(target).filter(({ erased }) => erased !== 'never');
    if (columns.length === 0) return [];
    const rows = rowsOf(kind, mapped);
    if (rows !== undefined) return [{ table, rows, columns }];
    if (KINDS.some((other) => rowsOf(other, mapped) !== undefined)) return [];
    throw new Error(`Nothing says which rows of ${table} are erased with an object: see ErasedKind`);
  });
  const rank = ({ table }: PersonalTable): number => LOCK_ORDER.indexOf(table) + 1 || LOCK_ORDER.length + 1;
  return found.sort((a, b) => rank(a) - rank(b) || (a.table < b.table ? -1 : 1));
}

function blankings({ name }: ErasedKind, tables: readonly PersonalTable[]): Blanking[] {
  return tables.flatMap(({ table, rows, columns }) => {
    const plain = columns.filter(({ isCopy }) => !isCopy);
    if (plain.length === 0) return [];
    const values = new Map<string, string>();
    for (const column of plain) values.set(column.name, blanked(column, values.get(column.name) ?? column.name));
    const set = [...values].map(([column, value]) => `${column} = ${value}`).join(', ');
    const text = `UPDATE ${table} SET ${set}
      WHERE ${rows} AND $2::boolean IS NOT NULL AND (${plain.map(isThere).join(' OR ')}) RETURNING 1`;
    return [{ table, statement: write(`customer_data.blank_${name}_${table}`, text) }];
  });
}

function sealedCopies({ name: kind }: ErasedKind, tables: readonly PersonalTable[]): SealedCopy[] {
  return tables.flatMap(({ table, rows, columns }) =>
    columns
      .filter(({ isCopy }) => isCopy)
      .map(({ target, property, name }) => {
        const sealed = sealedColumns().find((one) => one.target === target && one.property === property);
        if (!sealed) throw new Error(`${table}.${name} is a copy of personal data and is not sealed`);
        const find = `SELECT ctid::text AS id, ${name} AS json, ${sealed.context} AS context FROM ${table}
          WHERE ${rows} AND ${name} IS NOT NULL FOR UPDATE`;
        return {
          table,
          find: write(`customer_data.find_${kind}_${table}`, find),
          replace: write(
            `customer_data.replace_${kind}_${table}`,
            `UPDATE ${table} SET ${name} = $2 WHERE ctid = $1::tid`,
          ),
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
