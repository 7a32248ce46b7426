import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Pool, QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { poolOf } from './data-source.js';
import { isRetryable } from './pg-errors.js';
import { Group, type GroupWork, type Membership } from './group.js';
import { RowQuestions, type RowQuery } from './rows.js';
import { rowModeOf, rowsOf, type ReadStatement } from './statement.js';
import { LeaveGroup, SharedTx } from './shared-tx.js';
import { FOR_EVER, Tx } from './tx.js';

const MAX_RERUNS = 3;
/** Begins a read of any length that sees everything at one instant. */
const UNHURRIED = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0';

/**
 * The pool whose transaction is open, to detect queries outside of it. Only under test, where every use of a
 * transaction is exercised. On Node.js 20, following asynchronous work slows each promise and costs a seventh of the
 * processor time. All databases share this storage, since each storage costs that again, even an unused one.
 */
const open = process.env['NODE_ENV'] === 'test' ? new AsyncLocalStorage<Pool>() : null;

/** Plain reads, outside any transaction. Separate from Database so that they can move to a read replica. */
@Injectable()
export class Reader {
  readonly #pool: Pool;
  readonly #questions = new RowQuestions((statement, values) => this.query(statement as ReadStatement, values));

  constructor(dataSource: DataSource) {
    this.#pool = poolOf(dataSource);
  }

  async query<R extends QueryResultRow>(statement: ReadStatement, values: readonly unknown[]): Promise<R[]> {
    refuseSecond(this.#pool);
    const { name, text, isUnhurried } = statement;
    const query = { name, text, values: values as unknown[], ...rowModeOf(statement) };
    if (!isUnhurried) return rowsOf(statement, await this.#pool.query<R>(query));
    const client = await this.#pool.connect();
    let isDone = false;
    try {
      await client.query(UNHURRIED);
      const result = await client.query<R>({ ...query, ...FOR_EVER });
      await client.query('COMMIT');
      isDone = true;
      return rowsOf(statement, result);
    } finally {
      client.release(!isDone);
    }
  }

  /** The first row, or null. */
  async first<R extends QueryResultRow>(statement: ReadStatement, values: readonly unknown[]): Promise<R | null> {
    return (await this.query<R>(statement, values))[0] ?? null;
  }

  /**
   * Returns the row that a statement has for these values, or null. Requests of one turn of the event loop become one
   * query.
   */
  one<R extends QueryResultRow>(statement: ReadStatement & RowQuery, values: readonly unknown[]): Promise<R | null> {
    refuseSecond(this.#pool);
    return this.#questions.ask<R>(statement, values);
  }

  /**
   * Reads any number of rows in constant memory: the rows of one statement for several lists of values, one after the
   * other. All rows are read at one instant. Holds a connection until the end, or until the caller stops.
   * @param size rows at a time
   */
  async *stream<R extends QueryResultRow>(
    statement: ReadStatement,
    lists: readonly (readonly unknown[])[],
    size = 50,
  ): AsyncGenerator<R[]> {
    refuseSecond(this.#pool);
    const client = await this.#pool.connect();
    let isDone = false;
    try {
      await client.query(UNHURRIED);
      for (const values of lists) {
        await client.query(`DECLARE stream NO SCROLL CURSOR FOR ${statement.text}`, values as unknown[]);
        for (let rows: R[] = []; ; rows = []) {
          const fetch = { text: `FETCH ${size} FROM stream`, ...FOR_EVER };
          ({ rows } = await client.query<R>(fetch));
          if (rows.length > 0) yield rows;
          if (rows.length < size) break;
        }
        await client.query('CLOSE stream');
      }
      await client.query('COMMIT');
      isDone = true;
    } finally {
      // A connection in the middle of a transaction cannot be reused.
      client.release(!isDone);
    }
  }
}

/** The only maker of transactions. */
@Injectable()
export class Database {
  readonly #pool: Pool;
  readonly #groups = new Map<string, Group>();

  /** @param groupSize largest number of works written together */
  constructor(
    dataSource: DataSource,
    private readonly groupSize = 64,
  ) {
    this.#pool = poolOf(dataSource);
  }

  /**
   * Runs `work` in one READ COMMITTED transaction and commits it. On a serialization failure or deadlock `work` is run
   * again from the top, at most 3 times: it must have no effect but its statements.
   * @throws whatever `work` or the database throws; nothing is written then
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#run(work, false);
  }

  /**
   * Runs `work` like `transaction`, but in a transaction shared with other work of this kind requested at the same
   * time. Meant for work of few statements, sent by `writeRow` and `queryRow`. If any work of the group fails, `work` may be run
   * again, in a transaction of its own.
   */
  async inGroupCommit<T>(kind: string, membership: Membership, work: GroupWork<T>): Promise<T> {
    refuseSecond(this.#pool);
    let group = this.#groups.get(kind);
    if (!group) this.#groups.set(kind, (group = new Group(this, this.groupSize)));
    return group.run(membership, work);
  }

  /**
   * @internal For `Group`: runs all works in one transaction.
   * @returns for each work its result, or a `LeaveGroup` if it left without writing
   * @throws the first failure of any, or of the database; nothing is written then
   */
  async shared(works: readonly ((tx: Tx) => Promise<unknown>)[]): Promise<unknown[]> {
    return this.#run(async (tx) => {
      const results = await Promise.allSettled(works.map((work) => work(tx)));
      return results.map((result) => {
        if (result.status === 'fulfilled') return result.value;
        if (result.reason instanceof LeaveGroup) return result.reason;
        throw result.reason;
      });
    }, true);
  }

  async #run<T>(work: (tx: Tx) => Promise<T>, isShared: boolean): Promise<T> {
    refuseSecond(this.#pool);
    for (let rerun = 0; ; rerun++) {
      try {
        return await this.#once(work, isShared);
      } catch (error) {
        if (rerun >= MAX_RERUNS || !isRetryable(error)) throw error;
        await delay(Math.random() * 20 * 2 ** rerun);
      }
    }
  }

  /** Returns the use of the pool, for metrics. */
  poolUse(): { total: number; idle: number; waiting: number } {
    return { total: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  async #once<T>(work: (tx: Tx) => Promise<T>, isShared: boolean): Promise<T> {
    const client = await this.#pool.connect();
    const tx = isShared ? new SharedTx(client) : new Tx(client);
    let spoilt: Error | undefined;
    let result: T;
    try {
      result = await (open ? open.run(this.#pool, () => work(tx)) : work(tx));
      await tx.commit();
    } catch (error) {
      spoilt = await tx.rollback();
      throw error;
    } finally {
      // The pool itself checks whether the connection has died meanwhile.
      client.release(spoilt);
    }
    for (const hook of tx.takeAfterCommit()) hook();
    return result;
  }
}

/**
 * Throws inside an open transaction. A second connection would wait for a place that the first one holds, and commit
 * alone.
 */
function refuseSecond(pool: Pool): void {
  if (open?.getStore() !== pool) return;
  throw new Error('A transaction is already open: pass its tx on instead of taking another connection');
}
