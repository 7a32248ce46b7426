import type { Socket } from 'node:net';
import type { PoolClient, QueryResult, QueryResultRow } from 'pg';
import { isAborted } from './pg-errors.js';
import { columns, RowQuestions, type RowQuery, type RowWrite } from './rows.js';
import { rowModeOf, rowsOf, SET_BY_INDEX, type Statement } from './statement.js';

/** The longest that a timer takes: 24 days. */
export const FOR_EVER = { query_timeout: 2 ** 31 - 1 };

const UNHURRIED = 'SET LOCAL statement_timeout = 0';

/**
 * Shared transactions wait only 1 s for a row, as they keep other merchants waiting; a work alone waits longer. Groups
 * find rows by key. Plans made on small tables would read whole tables and stay in use as these grow.
 */
const BEGIN_SHARED = `BEGIN; SET LOCAL lock_timeout = '1s'; ${SET_BY_INDEX}`;

/**
 * The ledger's posting comes last and joins only its own parameters: row by row the time would grow with the square.
 */
const JOIN_WHAT_IS_GIVEN = 'SET LOCAL enable_hashjoin = on';

/** Thrown when work leaves its group to be done alone: see `Tx.leaveGroup`. */
export class LeaveGroup extends Error {}

/**
 * An open database transaction. Only `Database.transaction` makes one; repositories take it as an argument for every
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

  /** @param isShared several independent callers use this transaction */
  constructor(
    client: PoolClient,
    readonly isShared = false,
  ) {
    this.#client = client;
  }

  /** Runs one statement and returns its rows. */
  async query<R extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<R[]> {
    this.#writeRows();
    try {
      const result = await this.#send<R>(statement, values);
      return rowsOf(statement, result);
    } catch (error) {
      // If 25P02 arrives, an earlier statement failed: the caller needs that statement's error.
      if (isAborted(error)) await this.#throwFirstFailure();
      throw error;
    }
  }

  /**
   * Sends a statement without waiting for it, in pipeline mode: it travels together with its neighbours and the COMMIT
   * in one round trip. A failure of the statement fails the transaction. Use it for writes without a result; if a row
   * count decides something, use `query`.
   */
  defer(statement: Statement, values: readonly unknown[]): void {
    this.#writeRows();
    this.#defer(statement, values);
  }

  /** Writes a row as `defer` does. In a shared transaction, rows of one kind are written together. */
  put<R>(statement: RowWrite<R>, row: R): void {
    this.putAll(statement, [row]);
  }

  /** Puts any number of rows, like `put` does one. */
  putAll<R>(statement: RowWrite<R>, rows: readonly R[]): void {
    if (!this.isShared) this.#writeRows();
    const waiting = this.#rows.get(statement);
    if (waiting) waiting.push(...rows);
    else if (rows.length > 0) this.#rows.set(statement, [...rows]);
    if (!this.isShared) this.#writeRows(true);
  }

  /** Returns the first row, or null. */
  async first<R extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<R | null> {
    return (await this.query<R>(statement, values))[0] ?? null;
  }

  /**
   * Returns the row that a statement has for these values, or null. In a shared transaction, queries of one turn become
   * one statement.
   */
  async one<R extends QueryResultRow>(statement: RowQuery, values: readonly unknown[]): Promise<R | null> {
    if (this.isShared) return this.#questions.ask<R>(statement, values);
    return this.first<R>(statement, values);
  }

  /**
   * Returns the rows that a statement has for these lists of values, in no order; uses one statement also for several
   * lists.
   */
  async all<R extends QueryResultRow>(statement: RowQuery, lists: readonly (readonly unknown[])[]): Promise<R[]> {
    const [only, ...others] = lists;
    if (!only) return [];
    if (others.length > 0) return this.query<R>(statement.all, columns(lists));
    const row = await this.one<R>(statement, only);
    return row ? [row] : [];
  }

  /** Leaves the shared transaction, if the work must not or need not share one. The caller has written nothing yet. */
  leaveGroup(): void {
    if (this.isShared) throw new LeaveGroup();
  }

  /** @param isEnd also writes the rows that come last in a transaction */
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
   * Runs `hook` once after the commit, and never after a rollback. Use it to wake a worker, which must not look before
   * the rows are there. A hook cannot fail the request; a sweeper must be able to find the same work.
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
    // PostgreSQL answers COMMIT of an aborted transaction with ROLLBACK and no error: look for a failed statement
    // first.
    await this.#throwFirstFailure();
    const result = await commit;
    if (result.command !== 'COMMIT') throw new Error(`COMMIT was answered with ${result.command}`);
  }

  /** @internal Returns the error that makes the connection unusable, or undefined. */
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

  /** Sends the statements of one turn of the event loop in one system call: each call wakes the database. */
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

  /** Waits for every statement sent so far; the first failure is the cause of all later ones. */
  async #throwFirstFailure(): Promise<void> {
    const results = await Promise.allSettled(this.#pending);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}
