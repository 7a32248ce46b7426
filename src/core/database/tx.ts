import type { Socket } from 'node:net';
import type { PoolClient, QueryResult, QueryResultRow } from 'pg';
import { isAborted } from './pg-errors.js';
import { rowModeOf, rowsOf, type Statement } from './statement.js';

/** The longest that a timer takes: 24 days. */
export const FOR_EVER = { query_timeout: 2 ** 31 - 1 };

const UNHURRIED = 'SET LOCAL statement_timeout = 0';

/**
 * An open database transaction. Only `Database.transaction` makes one; repositories take it as an argument for every
 * write and locking read, so that a write outside a transaction does not compile. Work in a group has a `SharedTx`.
 */
export class Tx {
  readonly #client: PoolClient;
  readonly #pending: Promise<QueryResult>[] = [];
  readonly #afterCommit = new Set<() => void>();
  #begun = false;
  #isCorked = false;

  /** @param begin text of the statement that begins the transaction */
  constructor(
    client: PoolClient,
    private readonly begin = 'BEGIN',
  ) {
    this.#client = client;
  }

  /** Runs one statement and returns its rows. */
  async query<R extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<R[]> {
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
    const sent = this.#send(statement, values);
    sent.catch(() => undefined); // looked at in commit(); without this an early failure would be an unhandled rejection
    this.#pending.push(sent);
  }

  /** Returns the first row, or null. */
  async first<R extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<R | null> {
    return (await this.query<R>(statement, values))[0] ?? null;
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
      this.sendBefore(this.begin);
    }
    const { name, text, isUnhurried } = statement;
    if (isUnhurried) this.sendBefore(UNHURRIED);
    return this.#client.query<R>({
      ...{ name, text, values: values as unknown[], ...rowModeOf(statement) },
      ...(isUnhurried && FOR_EVER),
    });
  }

  /** Sends a text without values ahead of the next statement. */
  protected sendBefore(text: string): void {
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
