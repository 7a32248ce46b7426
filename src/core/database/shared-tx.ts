import type { PoolClient, QueryResultRow } from 'pg';
import { columns, RowQuestions, type RowQuery, type RowWrite } from './rows.js';
import { SET_BY_INDEX, type Statement } from './statement.js';
import { Tx } from './tx.js';

/**
 * Shared transactions wait only 1 s for a row, as they keep other merchants waiting; a work alone waits longer. Groups
 * find rows by key. Plans made on small tables would read whole tables and stay in use as these grow.
 */
const BEGIN_SHARED = `BEGIN; SET LOCAL lock_timeout = '1s'; ${SET_BY_INDEX}`;

/**
 * The ledger's posting comes last and joins only its own parameters: row by row the time would grow with the square.
 */
const JOIN_WHAT_IS_GIVEN = 'SET LOCAL enable_hashjoin = on';

/** Thrown when work leaves its group to be done alone: see `leaveGroup`. */
export class LeaveGroup extends Error {}

/**
 * Transaction of a group of works (`Database.inGroupCommit`). Rows of one kind are written by one statement, and queries
 * of one turn of the event loop are one statement: see `writeRow` and `queryRow`.
 */
export class SharedTx extends Tx {
  readonly #questions = new RowQuestions((statement, values) => this.query(statement, values));
  /** Rows that wait for others of their kind. */
  readonly #rows = new Map<RowWrite<never>, unknown[]>();

  constructor(client: PoolClient) {
    super(client, BEGIN_SHARED);
  }

  override async query<R extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<R[]> {
    this.#writeRows();
    return super.query<R>(statement, values);
  }

  override defer(statement: Statement, values: readonly unknown[]): void {
    this.#writeRows();
    super.defer(statement, values);
  }

  override async commit(): Promise<void> {
    this.#writeRows(true);
    return super.commit();
  }

  /** @internal For `writeRows`. */
  collect<R>(statement: RowWrite<R>, rows: readonly R[]): void {
    const waiting = this.#rows.get(statement);
    if (waiting) waiting.push(...rows);
    else if (rows.length > 0) this.#rows.set(statement, [...rows]);
  }

  /** @internal For `queryRow`. */
  ask<R extends QueryResultRow>(statement: RowQuery, values: readonly unknown[]): Promise<R | null> {
    return this.#questions.ask<R>(statement, values);
  }

  /** @param isEnd also writes the rows that come last in a transaction */
  #writeRows(isEnd = false): void {
    const inOrder = [...this.#rows].sort(([one], [other]) => Number(one.isLast) - Number(other.isLast));
    for (const [statement, rows] of inOrder) {
      if (statement.isLast && !isEnd) continue;
      this.#rows.delete(statement);
      if (rows.length === 1) {
        super.defer(statement, statement.valuesOf(rows[0] as never));
        continue;
      }
      if (statement.isLast) this.sendBefore(JOIN_WHAT_IS_GIVEN);
      super.defer(statement.all, statement.all.valuesOf(rows as never[]));
    }
  }
}

/** Leaves the shared transaction, if the work must not or need not share one. The caller has written nothing yet. */
export function leaveGroup(tx: Tx): void {
  if (tx instanceof SharedTx) throw new LeaveGroup();
}

/** Writes a row as `Tx.defer` does. In a shared transaction, rows of one kind are written together. */
export function writeRow<R>(tx: Tx, statement: RowWrite<R>, row: R): void {
  writeRows(tx, statement, [row]);
}

/** Writes any number of rows by one statement, like `writeRow` does one. */
export function writeRows<R>(tx: Tx, statement: RowWrite<R>, rows: readonly R[]): void {
  const [only, ...others] = rows;
  if (tx instanceof SharedTx) tx.collect(statement, rows);
  else if (others.length > 0) tx.defer(statement.all, statement.all.valuesOf(rows));
  else if (only !== undefined) tx.defer(statement, statement.valuesOf(only));
}

/**
 * Returns the row that a statement has for these values, or null. In a shared transaction, queries of one turn become
 * one statement.
 */
export async function queryRow<R extends QueryResultRow>(
  tx: Tx,
  statement: RowQuery,
  values: readonly unknown[],
): Promise<R | null> {
  return tx instanceof SharedTx ? tx.ask<R>(statement, values) : tx.first<R>(statement, values);
}

/**
 * Returns the rows that a statement has for these lists of values, in no order; uses one statement also for several
 * lists.
 */
export async function queryRows<R extends QueryResultRow>(
  tx: Tx,
  statement: RowQuery,
  lists: readonly (readonly unknown[])[],
): Promise<R[]> {
  const [only, ...others] = lists;
  if (!only) return [];
  if (others.length > 0) return tx.query<R>(statement.all, columns(lists));
  const row = await queryRow<R>(tx, statement, only);
  return row ? [row] : [];
}
