import type { Socket } from 'node:net';
import type { PoolClient, QueryResult, QueryResultRow } from 'pg';
import { isAborted } from './pg-errors.js';
import { columns, RowQuestions, type RowQuery, type RowWrite } from './rows.js';
import { rowModeOf, rowsOf, SET_BY_INDEX, type Statement } from './statement.js';

/** The longest that a timer takes: 24 days. */
export const FOR_EVER = { query_timeout: 2 ** 31 - 1 };

const UNHURRIED = 'SET LOCAL statement_timeout = 0';

/**
 * Whoever waits for a row keeps all others waiting, of whatever merchant: by itself it waits longer. Groups write rows
 * that they know by key: plans that read whole tables, made while these are small, would be kept as they grow.
 */
const BEGIN_SHARED = `BEGIN; SET LOCAL lock_timeout = '1s'; ${SET_BY_INDEX}`;

/** What comes last, the ledger's posting, joins only what it was given: row by row that would be square. */
const JOIN_WHAT_IS_GIVEN = 'SET LOCAL enable_hashjoin = on';

/** Work left its group to be done alone: see `Tx.leaveGroup`. */
export class LeftGroup extends Error {}

/**
 * One open database transaction. Only `Database.transaction` makes one; repositories take it as an argument for every
 * write and locking read, so that a write outside a transaction does not compile.
 */
export class Tx {
  readonly #client: PoolClient;
  readonly #pending: Promise<QueryResult>[] = [];
  readonly #afterCommit = new Set<() => void>();
  readonly #questions = new RowQuestions((statement, values) => this.query(statement, values));
  /** Rows of a shared transaction that wait for others of their kind. */
  readonly #rows = new Map<RowWrite<never>, unknown[]>();
  #begun = false;
  #isCorked = false;

  /** @param isShared by several callers, each of which knows nothing of the others */
  constructor(
    client: PoolClient,
    readonly isShared = false,
  ) {
    this.#client = client;
  }

  /** Runs one statement and gives its rows. */
  async query<R extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<R[]> {
    this.#writeRows();
    try {
      const result = await this.#send<R>(statement, values);
      return rowsOf(statement, result);
    } catch (error) {
      // 25P02 only says that something before failed: the caller needs to see what.
      if (isAborted(error)) await this.#throwFirstFailure();
      throw error;
    }
  }

  /**
   * Sends a statement without waiting for it: the connection is in pipeline mode, so it travels together with its
   * neighbours and the COMMIT in one round trip. Its failure fails the transaction. For writes whose result nobody
   * reads; a guarded move whose row count decides something must be a `query`.
   */
  defer(statement: Statement, values: readonly unknown[]): void {
    this.#writeRows();
    this.#defer(statement, values);
  }

  /** Writes a row as `defer` does. Of a shared transaction rows of one kind are written together. */
  put<R>(statement: RowWrite<R>, row: R): void {
    this.putAll(statement, [row]);
  }

  /** Puts any number of rows, as `put` does one. */
  putAll<R>(statement: RowWrite<R>, rows: readonly R[]): void {
    if (!this.isShared) this.#writeRows();
    const waiting = this.#rows.get(statement);
    if (waiting) waiting.push(...rows);
    else if (rows.length > 0) this.#rows.set(statement, [...rows]);
    if (!this.isShared) this.#writeRows(true);
  }

  /** The first row, or null. */
  async first<R extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<R | null> {
    return (await this.query<R>(statement, values))[0] ?? null;
  }

  /** The row that a statement has for these values, or null. Of a shared transaction those of one turn are one statement. */
  async one<R extends QueryResultRow>(statement: RowQuery, values: readonly unknown[]): Promise<R | null> {
    if (this.isShared) return this.#questions.ask<R>(statement, values);
    return this.first<R>(statement, values);
  }

  /** The rows that a statement has for these lists of values, in no order, by one statement also for several. */
  async all<R extends QueryResultRow>(statement: RowQuery, lists: readonly (readonly unknown[])[]): Promise<R[]> {
    const [only, ...others] = lists;
    if (!only) return [];
    if (others.length > 0) return this.query<R>(statement.all, columns(lists));
    const row = await this.one<R>(statement, only);
    return row ? [row] : [];
  }

  /** Leaves the shared transaction, where the work must not or need not share one. The caller has written nothing yet. */
  leaveGroup(): void {
    if (this.isShared) throw new LeftGroup();
  }

  /** @param isEnd also those that come last in a transaction */
  #writeRows(isEnd = false): void {
    const inOrder = [...this.#rows].sort(([one], [other]) => Number(one.isLast) - Number(other.isLast));
    for (const [statement, rows] of inOrder) {
      if (statement.isLast && !isEnd) continue;
      this.#rows.delete(statement);
      if (rows.length === 1) {
        this.#defer(statement, statement.valuesOf(rows[0] as never));
        continue;
      }
      if (statement.isLast && this.isShared) this.#sendBefore(JOIN_WHAT_IS_GIVEN);
      this.#defer(statement.all, statement.all.valuesOf(rows as never[]));
    }
  }

  #defer(statement: Statement, values: readonly unknown[]): void {
    const sent = this.#send(statement, values);
    sent.catch(() => undefined); // looked at in commit(); without this an early failure would be an unhandled rejection
    this.#pending.push(sent);
  }

  /**
   * Runs `hook` once after the commit, and never after a rollback: for waking a worker, which must not look before the
   * rows are there. It cannot fail the request; what it starts must be found by a sweeper too.
   */
  afterCommit(hook: () => void): void {
    this.#afterCommit.add(hook);
  }

  /** @internal */
  takeAfterCommit(): Iterable<() => void> {
    return this.#afterCommit;
  }

  /** @internal */
  async commit(): Promise<void> {
    this.#writeRows(true);
    if (!this.#begun) return;
    this.#cork();
    const commit = this.#client.query('COMMIT');
    commit.catch(() => undefined);
    // PostgreSQL answers COMMIT of an aborted transaction with ROLLBACK and no error: what failed is known before it.
    await this.#throwFirstFailure();
    const result = await commit;
    if (result.command !== 'COMMIT') throw new Error(`COMMIT was answered with ${result.command}`);
  }

  /** @internal Gives the error that makes the connection unusable, or undefined. */
  async rollback(): Promise<Error | undefined> {
    if (!this.#begun) return undefined;
    try {
      await this.#client.query('ROLLBACK');
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #send<R extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<QueryResult<R>> {
    this.#cork();
    if (!this.#begun) {
      this.#begun = true;
      this.#sendBefore(this.isShared ? BEGIN_SHARED : 'BEGIN');
    }
    const { name, text, isUnhurried } = statement;
    if (isUnhurried) this.#sendBefore(UNHURRIED);
    return this.#client.query<R>({
      ...{ name, text, values: values as unknown[], ...rowModeOf(statement) },
      ...(isUnhurried && FOR_EVER),
    });
  }

  #sendBefore(text: string): void {
    const sent = this.#client.query(text);
    sent.catch(() => undefined);
    this.#pending.push(sent);
  }

  /** What is sent in one turn of the event loop leaves in one system call: each wakes the database by itself. */
  #cork(): void {
    if (this.#isCorked) return;
    const { stream } = (this.#client as PoolClient & { connection: { stream: Socket } }).connection;
    this.#isCorked = true;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }

  /** Waits for every statement sent so far; the first one that failed is the cause of all that follow. */
  async #throwFirstFailure(): Promise<void> {
    const results = await Promise.allSettled(this.#pending);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}
