import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { OperatorQueues } from '../../src/core/operator-queues.js';
import { Clock } from '../../src/core/clock.js';
import { type Database, type Reader, read, uniqueViolation } from '../../src/core/database/index.js';
import { type Bucket, LedgerService, type Posting } from '../../src/wallets/index.js';
import { WalletsRepository } from '../../src/wallets/wallets.repository.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { TestSchema } from '../support/schema.js';

const raw = (text: string): ReturnType<typeof read> => read('', text);

describe('the ledger', () => {
  let schema: TestSchema;
  let database: Database;
  let reader: Reader;
  let ledger: LedgerService;

  beforeAll(async () => {
    schema = await TestSchema.open();
    ({ database, reader } = await schema.connect(50));
    ledger = new LedgerService(new WalletsRepository(reader, new OperatorQueues(reader)), new Clock());
  });
  afterEach(() => expectLedgerCoherent(schema.database.url, { madeUp: true }));
  afterAll(() => schema.close());

  const posting = (lines: Posting['lines'], changes: Partial<Posting> = {}): Posting => ({
    accountId: randomUUID(),
    mode: 'test',
    currency: 'BRL',
    cause: `spec:${randomUUID()}`,
    type: 'correction',
    transactionId: null,
    lines,
    ...changes,
  });
  const post = (...postings: Posting[]): Promise<void> => database.transaction(async (tx) => ledger.post(tx, postings));
  const count = async (table: string): Promise<number> => {
    const [row] = await reader.query<{ count: number }>(raw(`SELECT count(*)::int AS count FROM ${table}`), []);
    return row?.count ?? -1;
  };
  async function balanceOf(accountId: string): Promise<Partial<Record<Bucket, number>>> {
    const rows = await reader.query<{ bucket: Bucket; amount: number }>(
      raw('SELECT bucket, amount FROM balances WHERE account_id = $1'),
      [accountId],
    );
    return Object.fromEntries(rows.map(({ bucket, amount }) => [bucket, amount]));
  }

  it('changes balances by the lines of an entry, and ignores lines of zero', async () => {
    const first = posting({ clearing: -1000, available: 975, platform_fees: 25, provider_fees: 0 });
    await post(first);
    expect(await balanceOf(first.accountId)).toEqual({ clearing: -1000, available: 975, platform_fees: 25 });
    await post(posting({ available: -1000, retained: 1000 }, { accountId: first.accountId }));
    expect(await balanceOf(first.accountId)).toEqual({
      clearing: -1000,
      available: -25,
      platform_fees: 25,
      retained: 1000,
    });
  });

  it('checks the lines of an entry by an index, even with a plan made for an empty journal', async () => {
    // Fresh statistics in between would cause a new plan.
    for (const table of ['journal_lines', 'journal_entries']) {
      await schema.database.pool.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
    }
    const single = (await schema.connect(1)).database;
    const { accountId } = posting({});
    const postTimes = async (times: number): Promise<void> => {
      for (let time = 0; time < times; time++) {
        await single.transaction(async (tx) =>
          ledger.post(tx, [posting({ clearing: -1, available: 1 }, { accountId })]),
        );
      }
    };
    /** Counts rows and index entries of the journal that PostgreSQL has read so far. */
    const looks = async (): Promise<number> => {
      await single.transaction(async (tx) => {
        await tx.query(raw('SELECT pg_stat_force_next_flush()'), []);
      });
      const [row] = await schema.database.pool
        .query<{ looks: string }>(
          `SELECT sum(looks) AS looks FROM (
             SELECT seq_tup_read AS looks FROM pg_stat_user_tables WHERE relname IN ('journal_lines', 'journal_entries')
             UNION ALL SELECT idx_tup_read FROM pg_stat_user_indexes WHERE relname IN ('journal_lines', 'journal_entries')) t`,
        )
        .then(({ rows }) => rows);
      return Number(row?.looks);
    };
    await postTimes(400);
    const before = await looks();
    await postTimes(20);
    // About ten for each posting; the journal has 800 lines.
    expect((await looks()) - before).toBeLessThan(20 * 40);
  });

  it('keeps modes and currencies of one account apart', async () => {
    const { accountId } = posting({});
    await post(
      posting({ clearing: -1, available: 1 }, { accountId }),
      posting({ clearing: -2, available: 2 }, { accountId, mode: 'live' }),
      posting({ clearing: -4, available: 4 }, { accountId, currency: 'USD' }),
    );
    const wallets = new WalletsRepository(reader, new OperatorQueues(reader));
    expect(await wallets.balances({ accountId, mode: 'live' })).toEqual([
      { currency: 'BRL', bucket: 'available', amount: 2 },
    ]);
    expect(await wallets.balances({ accountId, mode: 'test' })).toEqual([
      { currency: 'BRL', bucket: 'available', amount: 1 },
      { currency: 'USD', bucket: 'available', amount: 4 },
    ]);
  });

  it.each([
    ['more in than out', { clearing: -100, available: 101 }],
    ['one line', { available: 100 }],
    ['one line besides zeros', { available: 100, pending: 0 }],
    ['only zeros', { available: 0, pending: 0 }],
    ['nothing', {}],
    ['fractions of a cent', { clearing: -0.5, available: 0.5 }],
    ['more than a number holds', { clearing: -(2 ** 53), available: 2 ** 53 }],
    ['what is not a number', { clearing: Number.NaN, available: 1 }],
  ])('refuses an entry of %s before it queries the database', async (_what, lines) => {
    const before = await count('journal_entries');
    const good = posting({ clearing: -1, available: 1 });
    await expect(post(good, posting(lines))).rejects.toThrow('not to zero');
    expect(await count('journal_entries')).toBe(before);
    expect(await balanceOf(good.accountId)).toEqual({});
  });

  it('refuses an unbalanced entry in the database too, whatever code writes it', async () => {
    const entry = raw(
      `WITH e AS (
         INSERT INTO journal_entries (id, account_id, mode, currency, cause, type, number, created_at)
         VALUES ($1::uuid, $1::uuid, 'test', 'BRL', 'spec:' || $1::uuid, 'correction', 1, now()) RETURNING *)
       INSERT INTO journal_lines (entry_id, line, account_id, mode, currency, bucket, amount, number, created_at, balance_after)
       SELECT e.id, l.n, e.account_id, e.mode, e.currency, (ARRAY['clearing', 'available', 'pending'])[l.n], l.amount, 1, e.created_at, l.amount
       FROM e, unnest($2::bigint[]) WITH ORDINALITY AS l (amount, n)`,
    );
    for (const amounts of [[-100, 101], [100], [5, -3, -1]]) {
      const id = randomUUID();
      const written = database.transaction(async (tx) => tx.defer(entry, [id, amounts]));
      await expect(written).rejects.toThrow('does not sum to zero');
      expect(await reader.query(raw('SELECT 1 FROM journal_entries WHERE id = $1'), [id])).toEqual([]);
    }
  });

  it.each([
    'UPDATE journal_lines SET amount = amount + 1',
    'UPDATE journal_entries SET cause = cause',
    'DELETE FROM journal_lines',
    'DELETE FROM journal_entries WHERE id IN (SELECT id FROM journal_entries LIMIT 1)',
    'TRUNCATE journal_lines',
    'TRUNCATE journal_entries CASCADE',
    'TRUNCATE journal_entries, journal_lines, balances',
  ])('never changes written entries, not even for the owner of the tables: %s', async (sql) => {
    await post(posting({ clearing: -7, available: 7 }));
    const before = [await count('journal_entries'), await count('journal_lines')];
    await expect(schema.database.pool.query(sql)).rejects.toThrow('append-only');
    expect([await count('journal_entries'), await count('journal_lines')]).toEqual(before);
  });

  it('posts one cause once, even when it comes repeatedly, at once, or with other lines', async () => {
    const once = posting({ clearing: -100, available: 100 });
    await post(once);
    const violated = async (work: Promise<void>): Promise<string | null> =>
      uniqueViolation(
        await work.then(
          () => null,
          (error: unknown) => error,
        ),
      );
    expect(await violated(post(once))).toBe('journal_entries_cause_key');
    expect(await violated(post({ ...once, accountId: randomUUID() }))).toBe('journal_entries_cause_key');
    expect(await violated(post(once, posting({ clearing: -1, available: 1 })))).toBe('journal_entries_cause_key');
    expect(await balanceOf(once.accountId)).toEqual({ clearing: -100, available: 100 });

    const raced = posting({ clearing: -3, available: 3 });
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => post(raced)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await balanceOf(raced.accountId)).toEqual({ clearing: -3, available: 3 });
  });

  it('takes 50 postings at once over crossing accounts without a deadlock or a lost cent', async () => {
    const accounts = Array.from({ length: 6 }, () => randomUUID());
    let runs = 0;
    await Promise.all(
      Array.from({ length: 50 }, (_unused, index) => {
        // Each names four of six accounts, in an order of its own.
        const order = [0, 1, 2, 3].map((step) => accounts[(index * 5 + step * (index % 2 === 0 ? 1 : 5)) % 6] ?? '');
        return database.transaction(async (tx) => {
          runs++;
          ledger.post(
            tx,
            order.map((accountId, step) =>
              posting({ clearing: -(step + 1), pending: 1, available: step, retained: 0 }, { accountId }),
            ),
          );
        });
      }),
    );
    // Each transaction ran once: no deadlock forced a retry.
    expect(runs).toBe(50);
    const balances = await Promise.all(accounts.map(balanceOf));
    const sum = (bucket: Bucket): number => balances.reduce((total, balance) => total + (balance[bucket] ?? 0), 0);
    expect([sum('clearing'), sum('pending'), sum('available')]).toEqual([-500, 200, 300]);
  });

  it('takes 50 postings at once to one new account, whose rows are made once', async () => {
    const { accountId } = posting({});
    await Promise.all(
      Array.from({ length: 50 }, () => post(posting({ clearing: -10, available: 9, platform_fees: 1 }, { accountId }))),
    );
    expect(await balanceOf(accountId)).toEqual({ clearing: -500, available: 450, platform_fees: 50 });
  });
});
