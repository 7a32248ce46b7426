import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  Reader,
  read,
  type ReadStatement,
  type SealedColumn,
  sealedColumns,
  type Tx,
  write,
  type WriteStatement,
} from '../database/index.js';

/** The place of sealed values, with its statements. */
export interface SealedPlace {
  /** Table and column, like `webhook_endpoints.secret_sealed`. */
  readonly name: string;
  readonly isText: boolean;
  readonly first: ReadStatement;
  readonly next: ReadStatement;
  readonly replace: WriteStatement;
  /** SELECT of a few values: whether they are text, else base64, and their contexts. */
  readonly sample: string;
}

export interface SealedRow {
  /** The values of the primary key, as text. */
  readonly key: readonly string[];
  /** Text comes from `sealText`, or was never sealed. */
  readonly sealed: Buffer | string;
  readonly context: string;
}

@Injectable()
export class ResealingRepository {
  readonly places: readonly SealedPlace[];
  readonly #samples: ReadStatement;

  constructor(
    source: DataSource,
    private readonly reader: Reader,
  ) {
    this.places = sealedColumns()
      .flatMap((sealed) =>
        source.entityMetadatas.flatMap(({ tableName, columns, primaryColumns }) =>
          columns
            .filter(({ target, propertyName }) => target === sealed.target && propertyName === sealed.property)
            .map(({ databaseName, type }) => {
              const keys = primaryColumns.map((key) => ({ name: key.databaseName, type: String(key.type) }));
              return placeOf(tableName, databaseName, keys, { ...sealed, isText: type === 'text' });
            }),
        ),
      )
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const samples = this.places.map(({ sample }) => `(${sample})`).join(' UNION ALL ');
    this.#samples = read('reseal.samples', samples, true);
  }

  /** Returns a few sealed values, whichever are found quickly. */
  async samples(): Promise<Pick<SealedRow, 'sealed' | 'context'>[]> {
    const rows = await this.reader.query<{ isText: boolean; value: string; context: string }>(this.#samples, []);
    return rows.map(({ isText, value, context }) => ({
      sealed: isText ? value : Buffer.from(value, 'base64'),
      context,
    }));
  }

  /**
   * The next values that do not begin with `prefix`, in the order of the primary key.
   * @param after the key of the last one, null at the beginning
   */
  async stale(
    place: SealedPlace,
    prefix: Buffer | string,
    after: readonly string[] | null,
    limit: number,
  ): Promise<SealedRow[]> {
    const [statement, key] = after === null ? [place.first, []] : [place.next, after];
    return this.reader.query<{ key: string[]; sealed: Buffer | string; context: string }>(statement, [
      prefix,
      limit,
      ...key,
    ]);
  }

  /** @returns false when the value has changed or is gone */
  async replace(tx: Tx, place: SealedPlace, row: SealedRow, sealed: Buffer | string): Promise<boolean> {
    return (await tx.query(place.replace, [row.sealed, sealed, ...row.key])).length > 0;
  }
}

function placeOf(
  table: string,
  column: string,
  keys: readonly { readonly name: string; readonly type: string }[],
  { context, path, isText }: Omit<SealedColumn, 'target' | 'property'> & { readonly isText: boolean },
): SealedPlace {
  const name = `${table}.${column}`;
  const inJson = path.length > 0;
  const at = `'{${path.join(',')}}'`;
  const value = inJson ? `decode(${column} #>> ${at}, 'base64')` : column;
  const given = keys.map(({ type }, index) => `$${String(index + 3)}::text::${type}`).join(', ');
  const names = keys.map((key) => key.name).join(', ');
  const type = isText ? 'text' : 'bytea';
  const isStale = isText
    ? `NOT starts_with(${value}, $1::text)`
    : `substring(${value} FROM 1 FOR length($1::bytea)) <> $1`;
  const list = (after: string): string =>
    `SELECT ARRAY[${keys.map((key) => `${key.name}::text`).join(', ')}] AS key, ${value} AS sealed, ${context} AS context
     FROM ${table} WHERE ${after} length(${value}) > 0 AND ${isStale}
     ORDER BY ${names} LIMIT $2`;
  const next = inJson ? `jsonb_set(${column}, ${at}, to_jsonb(translate(encode($2, 'base64'), E'\\n', '')))` : '$2';
  const sample = isText ? value : `encode(${value}, 'base64')`;
  return {
    name,
    isText,
    sample: `SELECT ${String(isText)} AS "isText", ${sample} AS value, ${context} AS context FROM ${table}
      WHERE length(${value}) > 0${isText ? ` AND starts_with(${value}, 'sealed:')` : ''} LIMIT 3`,
    first: read(`reseal.first ${name}`, list(''), true),
    next: read(`reseal.next ${name}`, list(`(${names}) > (${given}) AND`), true),
    replace: write(
      `reseal.replace ${name}`,
      `UPDATE ${table} SET ${column} = ${next} WHERE (${names}) = (${given}) AND ${value} = $1::${type} RETURNING 1`,
    ),
  };
}
