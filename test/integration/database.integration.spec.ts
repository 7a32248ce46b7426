import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createDataSource,
  Database,
  isUnavailable,
  poolOf,
  Reader,
  read,
  write,
  type ReadStatement,
  type Tx,
  uniqueViolation,
} from '../../src/core/database/index.js';
import { LATE, within } from '../../src/core/within.js';
import { barrier, Gate, TestSchema } from '../support/schema.js';
import { waitFor } from '../support/wait.js';

const INSERT = write('spec.insert', 'INSERT INTO scratch (id, value) VALUES ($1, $2)');
const READ = read('spec.read', 'SELECT id, value FROM scratch ORDER BY id');
const ADD = write('spec.add', 'UPDATE scratch SET value = value + 1 WHERE id = $1');
const FAIL = read('spec.fail', 'SELECT fail($1)');
const NOT_SQL = read('spec.not_sql', 'SELEKT 1');

let named = 0;
/** Makes a statement that no connection has seen. */
const fresh = (text: string): ReadStatement => read(`spec.fresh_${++named}`, text);

interface Row {
  id: number;
  value: number;
}

describe('Database.transaction', () => {
  let schema: TestSchema;
  let database: Database;
  let reader: Reader;

  beforeAll(async () => {
    schema = await TestSchema.open(`
      CREATE TABLE scratch (id int CONSTRAINT scratch_pkey PRIMARY KEY, value int CONSTRAINT scratch_value_check CHECK (value < 1000));
      CREATE FUNCTION fail(state text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'asked for' USING ERRCODE = state; END $$;
    `);
    ({ database, reader } = await schema.connect(4));
  });
  afterAll(() => schema.close());
  beforeEach(async () => {
    await schema.database.pool.query('TRUNCATE scratch');
  });

  const rows = (): Promise<Row[]> => reader.query<Row>(READ, []);
  /** A pool of one connection: each transaction meets what the previous one left behind. */
  const single = async (): Promise<Database> => (await schema.connect(1)).database;

  it('commits deferred and direct statements, and returns the result of the work', async () => {
    const result = await database.transaction(async (tx) => {
      tx.defer(INSERT, [1, 10]);
      tx.defer(INSERT, [2, 20]);
      const seen = await tx.query<Row>(READ, []);
      tx.defer(INSERT, [3, 30]);
      return seen.length;
    });
    expect(result).toBe(2);
    expect((await rows()).map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it('writes nothing when the work throws, and throws the same error', async () => {
    const error = new Error('mine');
    const failed = database.transaction(async (tx) => {
      tx.defer(INSERT, [1, 10]);
      await tx.query(READ, []);
      throw error;
    });
    await expect(failed).rejects.toBe(error);
    expect(await rows()).toEqual([]);
  });

  it('uses no connection when the work needs no database', async () => {
    const hooks: string[] = [];
    await expect(database.transaction(async (tx) => tx.afterCommit(() => hooks.push('ran')))).resolves.toBeUndefined();
    expect(hooks).toEqual(['ran']);
  });

  it('throws inside another transaction, however deep, and the outer one writes nothing', async () => {
    const inner = (): Promise<void> => database.transaction(async (tx) => tx.defer(INSERT, [2, 20]));
    const outer = (call: () => Promise<void>): Promise<void> =>
      database.transaction(async (tx) => {
        tx.defer(INSERT, [1, 10]);
        await call();
      });
    await expect(outer(inner)).rejects.toThrow('already open');
    await expect(outer(() => Promise.resolve().then(inner))).rejects.toThrow('already open');
    await expect(outer(() => nextTurn().then(inner))).rejects.toThrow('already open');
    expect(await rows()).toEqual([]);
    await inner();
    expect(await rows()).toHaveLength(1);
  });

  it('refuses a read by another connection while it is open', async () => {
    const nested = (ask: () => Promise<unknown>): Promise<void> =>
      database.transaction(async () => {
        await ask();
      });
    await expect(nested(() => reader.query(READ, []))).rejects.toThrow('already open');
    await expect(nested(() => reader.stream(READ, [[]]).next())).rejects.toThrow('already open');
    expect(await reader.query(READ, [])).toEqual([]);
  });

  it('runs beside other transactions, since only nesting is refused', async () => {
    const together = barrier(3);
    await Promise.all(
      [1, 2, 3].map((id) =>
        database.transaction(async (tx) => {
          await tx.query(INSERT, [id, id]);
          await together();
        }),
      ),
    );
    expect(await rows()).toHaveLength(3);
  });

  describe('with a deferred statement that fails', () => {
    it('rolls back every statement before and after it', async () => {
      const failed = database.transaction(async (tx) => {
        tx.defer(INSERT, [1, 10]);
        tx.defer(INSERT, [1, 11]);
        tx.defer(INSERT, [2, 20]);
      });
      await expect(failed).rejects.toMatchObject({ code: '23505', constraint: 'scratch_pkey' });
      expect(await rows()).toEqual([]);
    });

    it('reports the first failure, not a later one and not its echo', async () => {
      const two = database.transaction(async (tx) => {
        tx.defer(INSERT, [1, 1000]);
        tx.defer(INSERT, [2, 10]);
        tx.defer(INSERT, [2, 11]);
      });
      await expect(two).rejects.toMatchObject({ code: '23514', constraint: 'scratch_value_check' });
      const asked = database.transaction(async (tx) => {
        tx.defer(INSERT, [1, 10]);
        tx.defer(INSERT, [1, 11]);
        await tx.query(READ, []);
      });
      await expect(asked).rejects.toMatchObject({ code: '23505' });
      expect(uniqueViolation(await asked.catch((error: unknown) => error))).toBe('scratch_pkey');
    });

    it('fails even if the work swallows the error', async () => {
      const swallowed = database.transaction(async (tx) => {
        tx.defer(INSERT, [1, 1000]);
        await tx.query(READ, []).catch(() => []);
        return 'fine';
      });
      await expect(swallowed).rejects.toMatchObject({ code: '23514' });
      expect(await rows()).toEqual([]);
    });
  });

  it('is not reported as committed when the work swallows the failure of a query', async () => {
    const swallowed = database.transaction(async (tx) => {
      await tx.query(INSERT, [1, 10]);
      await tx.query(INSERT, [1, 11]).catch(() => []);
      return 'fine';
    });
    await expect(swallowed).rejects.toThrow('ROLLBACK');
    expect(await rows()).toEqual([]);
  });

  describe('on a serialization failure or a deadlock', () => {
    it.each(['40001', '40P01'])('%s runs the work again from the top, up to 3 times', async (code) => {
      let runs = 0;
      const result = await database.transaction(async (tx) => {
        runs++;
        tx.defer(INSERT, [runs, runs]);
        if (runs <= 3) await tx.query(FAIL, [code]);
        return runs;
      });
      expect(result).toBe(4);
      // Earlier runs have left nothing.
      expect(await rows()).toEqual([{ id: 4, value: 4 }]);
    });

    it('runs the work again when only the commit fails', async () => {
      let runs = 0;
      await database.transaction(async (tx) => {
        runs++;
        tx.defer(INSERT, [runs, runs]);
        if (runs === 1) tx.defer(FAIL, ['40001']);
      });
      expect(await rows()).toEqual([{ id: 2, value: 2 }]);
    });

    it.each(['40001', '40P01'])('%s is thrown after the third time', async (code) => {
      let runs = 0;
      const failed = database.transaction(async (tx) => {
        runs++;
        await tx.query(FAIL, [code]);
      });
      await expect(failed).rejects.toMatchObject({ code });
      expect(runs).toBe(4);
    });

    it.each(['23505', '55P03', '57014', 'P0001'])('%s is thrown at once, without a retry', async (code) => {
      let runs = 0;
      const failed = database.transaction(async (tx) => {
        runs++;
        await tx.query(FAIL, [code]);
      });
      await expect(failed).rejects.toMatchObject({ code });
      expect(runs).toBe(1);
    });

    it('lets both sides of a real deadlock finish', async () => {
      await database.transaction(async (tx) => {
        tx.defer(INSERT, [1, 0]);
        tx.defer(INSERT, [2, 0]);
      });
      const bothHold = barrier(2);
      let runs = 0;
      const crossing = (first: number, second: number): Promise<void> =>
        database.transaction(async (tx) => {
          runs++;
          await tx.query(ADD, [first]);
          await bothHold();
          await tx.query(ADD, [second]);
        });
      await Promise.all([crossing(1, 2), crossing(2, 1)]);
      // PostgreSQL ends one of the two, or both when it checks their waits at the same moment.
      expect(runs).toBeGreaterThanOrEqual(3);
      expect((await rows()).map(({ value }) => value)).toEqual([2, 2]);
    });
  });

  describe('runs work after the commit', () => {
    it('once, in order, when every connection can see the rows', async () => {
      const seen: Promise<Row[]>[] = [];
      const order: string[] = [];
      const first = (): void => void order.push('first');
      await database.transaction(async (tx) => {
        tx.afterCommit(first);
        tx.afterCommit(first);
        tx.afterCommit(() => {
          order.push('second');
          seen.push(rows());
        });
        await tx.query(INSERT, [1, 10]);
        expect(order).toEqual([]);
      });
      expect(order).toEqual(['first', 'second']);
      expect(await seen[0]).toHaveLength(1);
    });

    it('that may open another transaction', async () => {
      const opened: Promise<void>[] = [];
      await database.transaction(async (tx) => {
        tx.defer(INSERT, [1, 10]);
        tx.afterCommit(() => opened.push(database.transaction(async (next) => next.defer(INSERT, [2, 20]))));
      });
      await opened[0];
      expect(await rows()).toHaveLength(2);
    });

    it('never after a rollback, whatever caused it, and never for a retried run', async () => {
      const hooks: string[] = [];
      const run = (what: string, work: (tx: Tx) => Promise<void>): Promise<unknown> =>
        database
          .transaction(async (tx) => {
            tx.afterCommit(() => hooks.push(what));
            await work(tx);
          })
          .catch(() => null);
      await run('thrown', () => Promise.reject(new Error('x')));
      await run('queried', async (tx) => void (await tx.query(FAIL, ['P0001'])));
      await run('deferred', async (tx) => tx.defer(FAIL, ['P0001']));
      expect(hooks).toEqual([]);
      let runs = 0;
      await run('again', async (tx) => {
        if (++runs < 3) await tx.query(FAIL, ['40001']);
      });
      expect(hooks).toEqual(['again']);
    });
  });

  describe('returns its connection', () => {
    it('in good order after failures of every kind', async () => {
      const one = await single();
      const failures: ((tx: Tx) => Promise<unknown>)[] = [
        () => Promise.reject(new Error('x')),
        (tx) => tx.query(FAIL, ['P0001']),
        async (tx) => tx.defer(FAIL, ['P0001']),
        async (tx) => tx.defer(NOT_SQL, []),
        (tx) => tx.query(NOT_SQL, []),
        async (tx) => tx.defer(INSERT, ['not a number', 1]),
        (tx) => tx.query(INSERT, [1]),
        (tx) => tx.query(fresh('SELECT 9223372036854775807::bigint'), []),
      ];
      for (let round = 0; round < 5; round++) {
        for (const failure of failures) await expect(one.transaction(failure)).rejects.toThrow();
      }
      expect(one.poolUse()).toEqual({ total: 1, idle: 1, waiting: 0 });
      await one.transaction(async (tx) => tx.defer(INSERT, [1, 10]));
      expect(await rows()).toHaveLength(1);
    });

    it('unless it is broken: the pool then opens another', async () => {
      const one = await single();
      const killed = one.transaction(async (tx) => {
        tx.defer(INSERT, [1, 10]);
        await tx.query(fresh('SELECT pg_terminate_backend(pg_backend_pid())'), []);
      });
      await expect(killed).rejects.toThrow();
      await waitFor('a new connection', () => one.transaction(async (tx) => tx.query(READ, [])).catch(() => null));
      expect(await rows()).toEqual([]);
    });
  });

  it('fails when its connection dies between two queries, and the process goes on', async () => {
    const one = await single();
    const lost = one.transaction(async (tx) => {
      const [me] = await tx.query<{ pid: number }>(fresh('SELECT pg_backend_pid() AS pid'), []);
      tx.defer(INSERT, [1, 10]);
      await reader.query(fresh('SELECT pg_terminate_backend($1)'), [me?.pid]);
      await waitFor('the end of the connection', async () => {
        const alive = await reader.query(fresh('SELECT 1 FROM pg_stat_activity WHERE pid = $1'), [me?.pid]);
        return alive.length === 0;
      });
      tx.defer(INSERT, [2, 20]);
    });
    expect(isUnavailable(await lost.catch((error: unknown) => error))).toBe(true);
    expect(await rows()).toEqual([]);
  });

  it('shares one pool with the ORM', async () => {
    const { source } = await schema.connect(1);
    const pool = poolOf(source);
    const client = await pool.connect();
    const waiting = source.query('SELECT 1');
    await waitFor('the ORM to wait for the connection', () => Promise.resolve(pool.waitingCount === 1));
    client.release();
    expect(await waiting).toHaveLength(1);
    expect(pool.totalCount).toBe(1);
  });

  it('survives a connection that dies while the pool hands it over', async () => {
    const { source, reader: own } = await schema.connect(1);
    const pool = poolOf(source);
    const client = await pool.connect();
    const {
      rows: [me],
    } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    // Here neither the pool nor the next user listens: an unhandled error would end the process.
    const ended = new Promise((resolve) => client.once('end', resolve));
    await reader.query(fresh('SELECT pg_terminate_backend($1)'), [me?.pid]);
    await ended;
    client.release();
    await expect(own.query(fresh('SELECT 1 AS one'), [])).resolves.toEqual([{ one: 1 }]);
  });

  it('fails although the server is silent, and later work gets another connection', async () => {
    const server = new URL(schema.database.url);
    const sockets = new Set<Socket>();
    // The relay forwards bytes until it is paused, and never reports an end or an error.
    const relay = createServer((client) => {
      const upstream = connect(Number(server.port), server.hostname);
      for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined));
      client.pipe(upstream).pipe(client);
    });
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const url = new URL(server);
    url.port = String((relay.address() as AddressInfo).port);
    const source = createDataSource({ url: url.href, pool: 2, statementTimeoutMs: 1_000 });
    try {
      await source.initialize();
      const [one, reads] = [new Database(source), new Reader(source)];
      // Both connections of the pool are there before the server falls silent.
      await Promise.all([1, 2].map(() => reads.query(fresh('SELECT pg_sleep(0.1)'), [])));
      const opened = new Gate();
      const moved = one.transaction(async (tx) => {
        await tx.query(READ, []);
        opened.open();
        await nextTurn();
        await tx.query(READ, []);
      });
      await opened.opened;
      for (const socket of sockets) socket.unpipe();
      const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
      const errors = await within(60_000, Promise.all([failure(moved), failure(reads.query(READ, []))]));
      expect(errors === LATE || errors.map(isUnavailable)).toEqual([true, true]);
      await expect(one.transaction((tx) => tx.query(READ, []))).resolves.toEqual([]);
      // A read that is marked as slow is waited for.
      const slow = read('spec.slow', 'SELECT pg_sleep(2)', true);
      await one.transaction(async (tx) => {
        tx.defer(fresh('SET LOCAL statement_timeout = 0'), []);
        await tx.query(slow, []);
      });
    } finally {
      await source.destroy();
      for (const socket of sockets) socket.destroy();
      relay.close();
    }
  });

  describe('prepares statements that survive a failure', () => {
    it.each([
      [
        'behind a deferred one that failed',
        async (tx: Tx, later: ReadStatement) => (tx.defer(FAIL, ['P0001']), tx.defer(later, [])),
      ],
      [
        'behind one that does not parse',
        async (tx: Tx, later: ReadStatement) => (tx.defer(NOT_SQL, []), tx.defer(later, [])),
      ],
      [
        'behind a query that failed',
        async (tx: Tx, later: ReadStatement) => {
          await tx.query(FAIL, ['P0001']).catch(() => null);
          await tx.query(later, []);
        },
      ],
      [
        'and asked for twice behind one',
        async (tx: Tx, later: ReadStatement) => {
          tx.defer(FAIL, ['P0001']);
          tx.defer(later, []);
          tx.defer(later, []);
        },
      ],
      [
        'and rolled back right after',
        async (tx: Tx, later: ReadStatement) => (tx.defer(later, []), Promise.reject(new Error('x'))),
      ],
    ] as [string, (tx: Tx, later: ReadStatement) => Promise<void>][])(
      'sent %s on a fresh connection',
      async (_what, work) => {
        const one = await single();
        const later = fresh('SELECT 42 AS value');
        await expect(one.transaction((tx) => work(tx, later))).rejects.toThrow();
        await expect(one.transaction((tx) => tx.query(later, []))).resolves.toEqual([{ value: 42 }]);
        await expect(one.transaction((tx) => tx.query(later, []))).resolves.toEqual([{ value: 42 }]);
      },
    );

    it('even when the statement itself has failed', async () => {
      const one = await single();
      const insert = fresh('INSERT INTO scratch (id, value) VALUES ($1, $2)');
      await expect(one.transaction((tx) => tx.query(insert, [1, 1000]))).rejects.toThrow();
      await one.transaction((tx) => tx.query(insert, [1, 10]));
      expect(await rows()).toEqual([{ id: 1, value: 10 }]);
    });
  });

  it('refuses a bigint that a number cannot hold, even in a plain read, and keeps the connection', async () => {
    const reads = new Reader((await schema.connect(1)).source);
    await expect(reads.query(fresh('SELECT 9007199254740993::bigint AS value'), [])).rejects.toThrow(RangeError);
    await expect(reads.query(fresh('SELECT 9007199254740991::bigint AS value'), [])).resolves.toEqual([
      { value: Number.MAX_SAFE_INTEGER },
    ]);
  });
});
