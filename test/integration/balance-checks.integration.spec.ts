import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Clock, DAY_MS } from '../../src/core/clock.js';
import { type Database, type Reader, read } from '../../src/core/database/index.js';
import { OperatorQueues } from '../../src/core/operator-queues.js';
import { BalanceChecksRepository } from '../../src/wallets/balance-checks.repository.js';
import { BalanceChecksService } from '../../src/wallets/index.js';
import { LedgerService, type Posting } from '../../src/wallets/ledger.service.js';
import { WalletsRepository } from '../../src/wallets/wallets.repository.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { TestSchema } from '../support/schema.js';

const MINUTE_MS = 60_000;
const TABLES = ['journal_lines', 'journal_entries', 'balances', 'balance_checkpoints'];

describe('the check of all balances', () => {
  let schema: TestSchema;
  let database: Database;
  let reader: Reader;
  let ledger: LedgerService;
  let clock: Clock;
  let errors: object[];
  let checks: BalanceChecksService;

  const worker = (): BalanceChecksService => {
    const logger = { error: (fields: object) => errors.push(fields) };
    const needs = [database, new BalanceChecksRepository(reader), clock, logger] as unknown;
    return new BalanceChecksService(...(needs as ConstructorParameters<typeof BalanceChecksService>));
  };
  const post = async (accountId: string, lines: Posting['lines'], times = 1): Promise<void> => {
    const one = (): Posting => ({
      ...{ accountId, mode: 'test', currency: 'BRL', type: 'correction', transactionId: null, lines },
      cause: `spec:${randomUUID()}`,
    });
    await database.transaction(async (tx) => ledger.post(tx, Array.from({ length: times }, one)));
  };
  const sql = async (text: string, values: unknown[] = []): Promise<Record<string, string>[]> =>
    (await schema.database.pool.query<Record<string, string>>(text, values)).rows;
  /** Rows and index entries of these tables that PostgreSQL has read so far */
  const looks = async (...tables: string[]): Promise<number> => {
    const flush = read('', 'SELECT pg_stat_force_next_flush()');
    await database.transaction((tx) => tx.query(flush, []));
    const rows = await reader.query<{ looks: number }>(
      read(
        '',
        `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 AS looks FROM pg_stat_user_tables WHERE relname = ANY ($1)`,
      ),
      [tables],
    );
    return rows[0]?.looks ?? Number.NaN;
  };
  /** Five minutes after the last one. */
  const next = async (): Promise<number | null> => {
    clock.offsetMs += 5 * MINUTE_MS;
    while (await checks.check());
    return checks.incoherent();
  };

  beforeAll(async () => {
    schema = await TestSchema.open();
    ({ database, reader } = await schema.connect(8));
    clock = new Clock();
    ledger = new LedgerService(new WalletsRepository(reader, new OperatorQueues(reader)), clock);
    errors = [];
    checks = worker();
  });
  afterEach(() => expectLedgerCoherent(schema.database.url, { madeUp: true }));
  afterAll(() => schema.close());

  it('has no result before it first ran, or when no worker has run it for long', async () => {
    expect(await checks.incoherent()).toBeNull();
    expect(await next()).toBe(0);
    clock.offsetMs += 15 * MINUTE_MS + 1;
    expect(await checks.incoherent()).toBeNull();
    expect(await next()).toBe(0);
  });

  it.each(['available', 'pending'])('finds %s that was changed by hand, until it is right again', async (bucket) => {
    const accountId = randomUUID();
    await post(accountId, { clearing: -10, [bucket]: 10 });
    expect(await next()).toBe(0);
    const tamper = (by: number): Promise<unknown> =>
      sql('UPDATE balances SET amount = amount + $2 WHERE account_id = $1 AND bucket = $3', [accountId, by, bucket]);
    await tamper(1);
    expect(await next()).toBe(1);
    expect(errors.pop()).toEqual({ balances: 1 });
    await post(accountId, { clearing: -5, retained: 5 });
    expect(await next()).toBe(1);
    await tamper(-1);
    expect(await next()).toBe(0);
  });

  it('finds lines that no balance has, and a balance that was removed', async () => {
    const accountId = randomUUID();
    await post(accountId, { clearing: -10, available: 10 });
    const move = (by: number): Promise<unknown> =>
      sql(`UPDATE balances SET amount = amount - $2 WHERE account_id = $1 AND bucket = 'clearing'`, [accountId, by]);
    await move(7);
    expect(await next()).toBe(1);
    await move(-7);
    const [row] = await sql(`DELETE FROM balances WHERE account_id = $1 AND bucket = 'clearing' RETURNING *`, [
      accountId,
    ]);
    expect(await next()).toBe(1);
    await sql('INSERT INTO balances SELECT (json_populate_record(NULL::balances, $1)).*', [JSON.stringify(row)]);
    expect(await next()).toBe(0);
  });

  it('finds an entry that changed no balance', async () => {
    const accountId = randomUUID();
    await post(accountId, { clearing: -10, available: 10 });
    expect(await next()).toBe(0);
    const rows = `WITH entry AS (
        INSERT INTO journal_entries (id, account_id, mode, currency, cause, type, transaction_id, number, created_at)
        SELECT gen_random_uuid(), $1, 'test', 'BRL', 'spec:by hand', 'correction', NULL, 2, max(created_at) FROM journal_entries
        WHERE account_id = $1 RETURNING *)
      INSERT INTO journal_lines (entry_id, line, account_id, mode, currency, bucket, amount, number, created_at, balance_after)
      SELECT e.id, l.line, e.account_id, e.mode, e.currency, l.bucket, l.amount, e.number, e.created_at, l.amount + l.before
      FROM entry e, (VALUES (1, 'clearing', -5, -10), (2, 'available', 5, 10)) AS l (line, bucket, amount, before)`;
    await database.transaction(async (tx) => tx.query(read('', rows), [accountId]));
    expect(await next()).toBe(2);
    expect(await next()).toBe(2);
    await sql(
      `UPDATE balances SET amount = amount + CASE bucket WHEN 'clearing' THEN -5 ELSE 5 END,
         entries = CASE bucket WHEN 'available' THEN 2 ELSE 0 END WHERE account_id = $1`,
      [accountId],
    );
    expect(await next()).toBe(0);
  });

  it('runs again after a clock ahead of time has run it', async () => {
    const accountId = randomUUID();
    await post(accountId, { clearing: -10, available: 10 });
    clock.offsetMs += DAY_MS;
    expect(await next()).toBe(0);
    clock.offsetMs -= DAY_MS;
    expect(await checks.incoherent()).toBeNull();
    const tamper = (by: number): Promise<unknown> =>
      sql(`UPDATE balances SET amount = amount + $2 WHERE account_id = $1 AND bucket = 'clearing'`, [accountId, by]);
    await tamper(1);
    expect(await next()).toBe(1);
    await tamper(-1);
    expect(await next()).toBe(0);
  });

  it('takes no longer on a connection that planned its queries for an empty journal', async () => {
    const young = await TestSchema.open();
    const doors = await young.connect(1);
    for (const table of TABLES) {
      await young.database.pool.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
    }
    const before = { database, reader };
    ({ database, reader } = doors);
    const [ledgerBefore, checksBefore] = [ledger, checks];
    ledger = new LedgerService(new WalletsRepository(reader, new OperatorQueues(reader)), clock);
    checks = worker();
    try {
      const accountId = randomUUID();
      for (let time = 0; time < 10; time++) {
        await post(accountId, { clearing: -1, available: 1 }, 2);
        expect(await next()).toBe(0);
      }
      for (let time = 0; time < 6; time++) await post(accountId, { clearing: -1, available: 1 }, 3_000);
      const readBefore = await looks(...TABLES);
      expect(await next()).toBe(0);
      const looked = (await looks(...TABLES)) - readBefore;
      // There are 18 000 entries of two lines; a plan for empty tables reads all lines for each entry.
      expect(looked).toBeGreaterThanOrEqual(3 * 18_000);
      expect(looked).toBeLessThan(5 * 18_000);
    } finally {
      ({ database, reader } = before);
      [ledger, checks] = [ledgerBefore, checksBefore];
      await young.close();
    }
  });

  it('adds up each line once, and does not read earlier lines again', async () => {
    const accountId = randomUUID();
    await post(accountId, { clearing: -1, available: 1 }, 500);
    expect(await next()).toBe(0);
    await post(accountId, { clearing: -1, available: 1 }, 3);
    const before = await looks('journal_lines');
    expect(await next()).toBe(0);
    expect((await looks('journal_lines')) - before).toBeLessThan(50);
    const [{ number, amount } = {}] = await sql(
      `SELECT number, amount FROM balance_checkpoints WHERE account_id = $1 AND bucket = 'available'`,
      [accountId],
    );
    expect([number, amount].map(Number)).toEqual([503, 503]);
  });

  it('continues in steps when more was posted than one transaction adds up, without a result in between', async () => {
    const wallets = Array.from({ length: 3 }, () => randomUUID());
    for (const accountId of wallets) await post(accountId, { clearing: -1, available: 1 }, 9_000);
    clock.offsetMs += DAY_MS;
    expect(await checks.check()).toBe(true);
    expect(await checks.incoherent()).toBeNull();
    expect(await checks.check()).toBe(false);
    expect(await checks.incoherent()).toBe(0);
    expect(
      await sql(
        `SELECT count(*)::int AS wallets FROM balance_checkpoints
         WHERE account_id = ANY ($1) AND bucket = 'available' AND number = 9000 AND amount = 9000`,
        [wallets],
      ),
    ).toEqual([{ wallets: 3 }]);
  });

  it('is run by one of several workers, and ignores lines that are posted meanwhile', async () => {
    const wallets = Array.from({ length: 4 }, () => randomUUID());
    const workers = [checks, worker(), worker()];
    errors.length = 0;
    let isOver = false;
    const posters = wallets.map(async (accountId, index) => {
      while (!isOver) await post(accountId, { clearing: -3, [index % 2 === 0 ? 'available' : 'pending']: 3 }, 2);
    });
    for (let round = 0; round < 40; round++) {
      clock.offsetMs += 5 * MINUTE_MS;
      await Promise.all(workers.map((one) => one.check()));
      expect(await checks.incoherent()).toBe(0);
    }
    isOver = true;
    await Promise.all(posters);
    expect(await next()).toBe(0);
    expect(
      await sql(
        `SELECT c.account_id FROM balance_checkpoints c FULL JOIN (
           SELECT account_id, mode, currency, bucket, sum(amount) AS amount FROM journal_lines GROUP BY 1, 2, 3, 4) l
         USING (account_id, mode, currency, bucket) WHERE c.amount IS DISTINCT FROM coalesce(l.amount, 0)`,
      ),
    ).toEqual([]);
    expect(errors).toEqual([]);
  });
});
