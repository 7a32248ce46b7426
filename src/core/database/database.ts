import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Pool, QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { isRetryable } from './pg-errors.js';
import { rowModeOf, rowsOf, type ReadStatement } from './statement.js';
import { FOR_EVER, Tx } from './tx.js';

const MAX_RERUNS = 3;
/** A read of any length, as everything is at one instant. */
const UNHURRIED = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0';

/**
 * Whose transaction is open. Under test only, where every use of a transaction comes by: on Node.js 20 following
 * asynchronous work costs each promise of the process, together a seventh of its processor time. One for all databases,
 * as each costs that again, also when nobody uses it any more.
 */
const open = process.env['NODE_ENV'] === 'test' ? new AsyncLocalStorage<Database>() : null;

/** Plain reads, outside any transaction. Separate from Database so that they can move to a read replica. */
@Injectable()
export class Reader {
  readonly #pool: Pool;

  constructor(dataSource: DataSource) {
    this.#pool = poolOf(dataSource);
  }

  async query<R extends QueryResultRow>(statement: ReadStatement, values: readonly unknown[]): Promise<R[]> {
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

  /**
   * Any number of rows in constant memory: those of one statement for several lists of values, one after the other, all
   * as they are at one instant. Holds a connection until its end, or until the caller stops.
   * @param size rows at a time
   */
  async *stream<R extends QueryResultRow>(
    statement: ReadStatement,
    lists: readonly (readonly unknown[])[],
    size = 50,
  ): AsyncGenerator<R[]> {
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
      // A connection amidst a transaction is of no use to others.
      client.release(!isDone);
    }
  }
}

/** The only maker of transactions. */
@Injectable()
export class Database {
  readonly #pool: Pool;

  constructor(dataSource: DataSource) {
    this.#pool = poolOf(dataSource);
  }

  /**
   * Runs `work` in one READ COMMITTED transaction and commits it. On a serialization failure or deadlock `work` is run
   * again from the top, at most 3 times: it must have no effect but its statements.
   * @throws whatever `work` or the database throws; nothing is written then
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (open?.getStore() === this) {
      // A second connection inside the first would wait for a pool slot that the first one holds, and commit alone.
      throw new Error('A transaction is already open: pass its tx on instead of opening another one');
    }
    for (let rerun = 0; ; rerun++) {
      try {
        return await this.#once(work);
      } catch (error) {
        if (rerun >= MAX_RERUNS || !isRetryable(error)) throw error;
        await delay(Math.random() * 20 * 2 ** rerun);
      }
    }
  }

  /** For metrics. */
  poolUse(): { total: number; idle: number; waiting: number } {
    return { total: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  async #once<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    const tx = new Tx(client);
    let spoilt: Error | undefined;
    let result: T;
    try {
      result = await (open ? open.run(this, () => work(tx)) : work(tx));
      await tx.commit();
    } catch (error) {
      spoilt = await tx.rollback();
      throw error;
    } finally {
      // The pool looks by itself whether the connection has died meanwhile.
      client.release(spoilt);
    }
    for (const hook of tx.takeAfterCommit()) hook();
    return result;
  }
}

export function poolOf(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}
