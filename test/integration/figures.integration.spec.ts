import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { generate } from '../../tools/bench/generate.js';
import { read } from '../../src/core/database/index.js';
import { newId } from '../../src/core/ids.js';
import { StatisticsRepository } from '../../src/transactions/statistics/statistics.repository.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { TestSchema } from '../support/schema.js';

const DAY_MS = 86_400_000;
const TO = new Date('2026-11-20T15:00:00.000Z');

describe('figures of transactions', () => {
  let schema: TestSchema;
  let client: pg.Client;
  let accountId: string;
  let doors: Awaited<ReturnType<TestSchema['connect']>>;
  let figures: StatisticsRepository;

  beforeAll(async () => {
    schema = await TestSchema.open();
    doors = await schema.connect(8);
    figures = new StatisticsRepository(doors.reader);
    client = new pg.Client({ connectionString: schema.database.ownerUrl });
    await client.connect();
  });
  beforeEach(() => {
    accountId = newId(new Date());
  });
  afterAll(async () => {
    await client.end();
    await schema.close();
  });

  const make = (count: number): Promise<void> =>
    generate(client, { accountId, count, from: new Date(TO.getTime() - 90 * DAY_MS), to: TO });
  const fold = (limit: number): Promise<number> => doors.database.transaction((tx) => figures.fold(tx, limit));
  const waiting = async (): Promise<number> =>
    Number((await client.query<{ n: string }>('SELECT count(*) AS n FROM transaction_changes')).rows[0]?.n);
  const differences = (account: string | null = accountId): Promise<unknown[]> =>
    doors.database.transaction((tx) => figures.differences(tx, account));

  /** Created and paid totals over all days */
  async function totals(): Promise<{ created: number; paid: number; volume: number }> {
    const want = { kinds: ['day', 'paid'], daily: [], currency: null } as const;
    const rows = await figures.read(
      { accountId, mode: 'test' },
      { from: new Date(0), to: new Date(TO.getTime() + DAY_MS) },
      TO,
      want,
    );
    const sum = (kind: string, of: 'count' | 'amount'): number =>
      rows.filter((row) => row.kind === kind).reduce((total, row) => total + row[of], 0);
    return { created: sum('day', 'count'), paid: sum('paid', 'count'), volume: sum('paid', 'amount') };
  }

  async function actual(): Promise<{ created: number; paid: number; volume: number }> {
    const { rows } = await client.query<Record<'created' | 'paid' | 'volume', string>>(
      `SELECT count(*) AS created, count(paid_at) AS paid, coalesce(sum(amount) FILTER (WHERE paid_at IS NOT NULL), 0) AS volume
       FROM transactions WHERE account_id = $1`,
      [accountId],
    );
    const [row] = rows;
    return { created: Number(row?.created), paid: Number(row?.paid), volume: Number(row?.volume) };
  }

  it('stay the same before, while and after pending changes are folded', async () => {
    await make(2_000);
    await expectLedgerCoherent(schema.database.url);
    const expected = await actual();
    expect(expected.paid).toBeGreaterThan(1_200);
    expect(await waiting()).toBeGreaterThan(2_000);
    for (;;) {
      expect(await totals()).toEqual(expected);
      expect(await differences()).toEqual([]);
      if ((await fold(700)) < 700) break;
    }
    expect(await waiting()).toBe(0);
    expect(await totals()).toEqual(expected);
    await expectLedgerCoherent(schema.database.url);
  });

  it('count each change once while two workers fold and others write and read', async () => {
    await make(500);
    let writing = true;
    let seen = 0;
    const workers = [1, 2].map(async () => {
      let folded = 0;
      while (writing || (await waiting()) > 0) folded += await fold(37);
      return folded;
    });
    const reader = (async () => {
      while (writing) {
        const { created } = await totals();
        expect(created).toBeGreaterThanOrEqual(seen);
        seen = created;
        expect(await differences()).toEqual([]);
      }
    })();
    // The writers change statuses alone, without the money that belongs to them.
    await client.query('ALTER TABLE transactions DISABLE TRIGGER transactions_paid');
    const writers = Array.from({ length: 4 }, async () => {
      for (let n = 0; n < 60; n++) {
        const id = newId(new Date(TO.getTime() - n * 3_600_000));
        await doors.source.query(
          `INSERT INTO transactions (id, account_id, mode, status, amount, currency, payment_methods, metadata, acquirer, created_at, updated_at)
           VALUES ($1, $2, 'test', 'WAITING_PAYMENT', 100, 'BRL', '{PIX}', '{}', 'sandbox', $3, $3)`,
          [id, accountId, new Date(TO.getTime() - n * 3_600_000)],
        );
        await doors.source.query(
          `UPDATE transactions SET status = 'PAID', paid_with = 'PIX', paid_at = created_at + interval '30 seconds' WHERE id = $1`,
          [id],
        );
      }
    });
    await Promise.all(writers).finally(() => (writing = false));
    await client.query('ALTER TABLE transactions ENABLE TRIGGER transactions_paid');
    await reader;
    const folded = await Promise.all(workers);
    expect(Math.min(...folded)).toBeGreaterThan(0);
    expect(await totals()).toEqual(await actual());
    expect(await differences(null)).toEqual([]);
  });

  it('lose nothing when a worker dies before its commit', async () => {
    await make(300);
    const expected = await actual();
    const before = await waiting();
    await expect(
      doors.database.transaction(async (tx) => {
        const [self] = await tx.query<{ pid: number }>(read('spec.pid', 'SELECT pg_backend_pid() AS pid'), []);
        expect(await figures.fold(tx, 1_000)).toBe(before);
        // Rows folded in the open transaction are locked: nobody else sees the result or takes them.
        expect(await totals()).toEqual(expected);
        expect(await fold(1_000)).toBe(0);
        await client.query('SELECT pg_terminate_backend($1)', [self?.pid]);
      }),
    ).rejects.toThrow();
    expect(await waiting()).toBe(before);
    expect(await totals()).toEqual(expected);
    expect(await fold(1_000)).toBe(before);
    expect(await totals()).toEqual(expected);
    expect(await differences()).toEqual([]);
  });

  it('that were changed by hand are found and corrected, without changing other accounts', async () => {
    await make(400);
    while ((await fold(5_000)) > 0);
    const other = accountId;
    accountId = newId(new Date());
    await make(200);
    await fold(100);
    for (const account of [other, accountId]) {
      await client.query(
        `UPDATE transaction_figures SET count = count + 1, amount = amount - 7
         WHERE (account_id, mode, kind, bucket, currency, key) = (
           SELECT account_id, mode, kind, bucket, currency, key FROM transaction_figures
           WHERE account_id = $1 AND kind = 'paid' ORDER BY bucket LIMIT 1)`,
        [account],
      );
    }
    await client.query(`DELETE FROM transaction_figures WHERE account_id = $1 AND kind = 'hour'`, [other]);
    const found = (await differences(other)) as {
      kind: string;
      count: number;
      actualCount: number;
      actualAmount: number;
    }[];
    expect(found.filter(({ kind }) => kind === 'paid')).toMatchObject([{ key: 'PIX', mode: 'test', currency: 'BRL' }]);
    expect(found.find(({ kind }) => kind === 'paid')).toMatchObject({
      count: (found.find(({ kind }) => kind === 'paid')?.actualCount ?? 0) + 1,
    });
    expect(found.filter(({ kind }) => kind === 'hour').reduce((sum, row) => sum + row.actualCount, 0)).toBe(400);

    const mended = await doors.database.transaction((tx) => figures.mend(tx, other));
    expect(mended).toEqual(found);
    expect(await differences(other)).toEqual([]);
    expect(await differences(null)).toHaveLength(1);
    // Two corrections at once while a worker folds: the figures are corrected once.
    await Promise.all([
      doors.database.transaction((tx) => figures.mend(tx, null)),
      doors.database.transaction((tx) => figures.mend(tx, null)),
      fold(5_000),
    ]);
    expect(await differences(null)).toEqual([]);
    expect(await totals()).toEqual(await actual());
  });

  it('can be rebuilt from nothing', async () => {
    await make(300);
    while ((await fold(5_000)) > 0);
    await client.query('DELETE FROM transaction_figures WHERE account_id = $1', [accountId]);
    expect(await totals()).toEqual({ created: 0, paid: 0, volume: 0 });
    await doors.database.transaction((tx) => figures.mend(tx, accountId));
    expect(await totals()).toEqual(await actual());
    expect(await differences(randomUUID())).toEqual([]);
  });

  it('stay right for sums beyond what JSON holds exactly', async () => {
    const at = new Date('2026-11-20T12:00:00.000Z');
    await doors.source.query(
      `INSERT INTO transactions (id, account_id, mode, status, amount, currency, payment_methods, metadata, acquirer, created_at, updated_at)
       SELECT gen_random_uuid(), $1, 'test', 'CANCELLED', 999999999999, 'BRL', '{PIX}', '{}', 'sandbox', $2, $2 FROM generate_series(1, 10000)`,
      [accountId, at],
    );
    while ((await fold(5_000)) > 0);
    const want = { kinds: ['day'], daily: [], currency: 'BRL' } as const;
    const rows = await figures.read({ accountId, mode: 'test' }, { from: new Date(0), to: TO }, TO, want);
    expect(rows).toMatchObject([{ key: 'CANCELLED', count: 10_000, amount: 9_999_999_999_990_000 }]);
    await client.query('DELETE FROM transactions WHERE account_id = $1', [accountId]);
    await doors.database.transaction((tx) => figures.mend(tx, accountId));
  });
});
