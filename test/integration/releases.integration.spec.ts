import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { OperatorQueues } from '../../src/core/operator-queues.js';
import { type Database, type Reader, read } from '../../src/core/database/index.js';
import { createLogger } from '../../src/core/log/index.js';
import type { Poller } from '../../src/core/queue/index.js';
import { releaseTimeOf } from '../../src/brazil/index.js';
import { type CreditedSettlement, LedgerService, ReleasesService, WalletsService } from '../../src/wallets/index.js';
import { ReleasesRepository } from '../../src/wallets/releases.repository.js';
import { WalletsRepository } from '../../src/wallets/wallets.repository.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { TestSchema } from '../support/schema.js';
import { TestClock } from '../support/service.js';

const raw = (text: string): ReturnType<typeof read> => read('', text);

/** An entry whose cause is in `spec_refused` cannot be posted; `code` is the SQLSTATE that it fails with. */
const SETUP = `
  -- Its day is moved.
  ALTER TABLE releases DISABLE TRIGGER releases_fixed;
  CREATE TABLE spec_refused (cause text PRIMARY KEY, code text NOT NULL);
  CREATE FUNCTION spec_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE refused text;
  BEGIN
    SELECT code INTO refused FROM spec_refused WHERE cause = NEW.cause;
    IF FOUND THEN RAISE EXCEPTION 'refused by the spec' USING ERRCODE = refused; END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER spec_refuse BEFORE INSERT ON journal_entries FOR EACH ROW EXECUTE FUNCTION spec_refuse();
`;

describe('pending money on its release day', () => {
  let schema: TestSchema;
  let database: Database;
  let reader: Reader;
  let clock: TestClock;
  let logged: string[];

  beforeAll(async () => {
    schema = await TestSchema.open(SETUP);
    ({ database, reader } = await schema.connect(12));
  });
  beforeEach(() => {
    clock = new TestClock();
    logged = [];
  });
  afterEach(async () => {
    // Releases everything that a test had refused, so that the next one starts with nothing due.
    await reader.query(raw('DELETE FROM spec_refused'), []);
    clock.advance(2 * 3600);
    while (await worker().run());
    expect(await reader.query(raw('SELECT 1 FROM releases WHERE released_at IS NULL'), [])).toEqual([]);
    await expectLedgerCoherent(schema.database.url, { madeUp: true });
  });
  afterAll(() => schema.close());

  function worker(): ReleasesService {
    const logger = createLogger('debug', { write: (line) => logged.push(line) });
    const ledger = new LedgerService(new WalletsRepository(reader, new OperatorQueues(reader)), clock);
    const poller = { onWorkers: () => true } as unknown as Poller;
    return new ReleasesService(database, new ReleasesRepository(reader), ledger, poller, clock, logger);
  }

  function walletsService(): WalletsService {
    const wallets = new WalletsRepository(reader, new OperatorQueues(reader));
    return new WalletsService(wallets, new ReleasesRepository(reader), new LedgerService(wallets, clock), clock);
  }

  /** Makes a settlement of a day's release, without fees. */
  const settlement = (accountId: string, transactionId: string, netAmount: number): CreditedSettlement => ({
    accountId,
    mode: 'test',
    transactionId,
    currency: 'BRL',
    amount: netAmount,
    providerFee: 0,
    platformFee: 0,
    netAmount,
    paidAt: clock.now(),
    releaseDays: 1,
    reserveBps: 0,
    reserveDays: 0,
    wasSuspended: false,
  });

  /** Pays `count` transactions of one account, a cent more each, and makes their money due, in that order. */
  async function due(count: number, accountId: string = randomUUID()): Promise<string[]> {
    const service = walletsService();
    const transactionIds = Array.from({ length: count }, () => randomUUID());
    await database.transaction(async (tx) => {
      for (const [index, transactionId] of transactionIds.entries()) {
        service.credit(tx, settlement(accountId, transactionId, 100 + index));
      }
    });
    await reader.query(
      raw(`UPDATE releases SET release_at = $2::timestamptz - interval '1 hour' + amount * interval '1 second'
           WHERE transaction_id = ANY ($1::uuid[])`),
      [transactionIds, clock.now()],
    );
    return transactionIds;
  }

  async function refuse(transactionId: string, code = 'P0001'): Promise<void> {
    await reader.query(raw('INSERT INTO spec_refused VALUES ($1, $2)'), [`release:${transactionId}`, code]);
  }

  /** Lists the still pending ones in the given order, with the seconds they are put off, rounded to five. */
  async function pending(
    transactionIds: readonly string[],
  ): Promise<{ id: string; transactionId: string; attempts: number; wait: number | null }[]> {
    return reader.query(
      raw(`SELECT id, transaction_id AS "transactionId", attempts,
             (round(extract(epoch FROM next_attempt_at - $2::timestamptz) / 20) * 20)::int AS wait
           FROM releases WHERE transaction_id = ANY ($1::uuid[]) AND released_at IS NULL ORDER BY release_at`),
      [transactionIds, clock.now()],
    );
  }

  async function buckets(accountId: string): Promise<Record<string, number>> {
    const rows = await reader.query<{ bucket: string; amount: number }>(
      raw('SELECT bucket, amount FROM balances WHERE account_id = $1'),
      [accountId],
    );
    return Object.fromEntries(rows.map(({ bucket, amount }) => [bucket, amount]));
  }

  const errors = (): Record<string, unknown>[] =>
    logged
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line['level'] === 'error' && 'releaseId' in line);

  it('is released in batches, each once, by any number of workers', async () => {
    const all = [...(await due(450)), ...(await due(30))];
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const one = worker();
        while (await one.run());
      }),
    );
    expect(await pending(all)).toEqual([]);
    expect(logged).toEqual([]);
  });

  it('is released beside refused money, which is logged and postponed', async () => {
    const transactions = [...(await due(20)), ...(await due(250))];
    const bad = [transactions[0] ?? '', transactions[7] ?? '', transactions[120] ?? ''];
    for (const one of bad) await refuse(one);
    while (await worker().run());

    const left = await pending(transactions);
    expect(new Set(left.map(({ transactionId }) => transactionId))).toEqual(new Set(bad));
    expect(left.map(({ attempts, wait }) => ({ attempts, wait }))).toEqual(
      Array.from({ length: 3 }, () => ({ attempts: 1, wait: 60 })),
    );
    expect(new Set(errors().map(({ releaseId }) => releaseId))).toEqual(new Set(left.map(({ id }) => id)));
    expect(errors()).toHaveLength(3);
    expect(errors()[0]).toMatchObject({ attempt: 1, error: { message: 'refused by the spec' } });

    // Money that comes due meanwhile gets its own batch: the refused rows are not retried before their time.
    logged = [];
    const later = await due(3);
    expect(await worker().run()).toBe(false);
    expect(await pending(later)).toEqual([]);
    expect(logged).toEqual([]);
  });

  it('is tried and released by one of several workers at a time, even when some is refused', async () => {
    const accountIds = Array.from({ length: 5 }, () => randomUUID());
    const all = (await Promise.all(accountIds.map((accountId) => due(60, accountId)))).flat();
    const bad = all.filter((_, index) => index % 43 === 7);
    for (const one of bad) await refuse(one);
    const everybody = (): Promise<unknown> =>
      Promise.all(
        Array.from({ length: 4 }, async () => {
          const one = worker();
          while (await one.run());
        }),
      );
    // A row claimed by another worker is skipped and found at the next poll.
    do await everybody();
    while ((await pending(all)).length > bad.length);

    const left = await pending(all);
    expect(left.map(({ transactionId }) => transactionId).sort()).toEqual([...bad].sort());
    expect(left.map(({ attempts, wait }) => ({ attempts, wait }))).toEqual(bad.map(() => ({ attempts: 1, wait: 60 })));
    const cents = (transactionIds: readonly string[]): number =>
      transactionIds.reduce((sum, one) => sum + 100 + (all.indexOf(one) % 60), 0);
    for (const [index, accountId] of accountIds.entries()) {
      const its = all.slice(index * 60, (index + 1) * 60);
      const waiting = cents(its.filter((one) => bad.includes(one)));
      expect(await buckets(accountId)).toEqual({
        available: cents(its) - waiting,
        pending: waiting,
        clearing: -cents(its),
      });
    }

    await reader.query(raw('DELETE FROM spec_refused'), []);
    await everybody();
    expect(await pending(all)).toHaveLength(bad.length);
    clock.advance(61);
    await everybody();
    expect(await pending(all)).toEqual([]);
    for (const [index, accountId] of accountIds.entries()) {
      const its = cents(all.slice(index * 60, (index + 1) * 60));
      expect(await buckets(accountId)).toEqual({ available: its, pending: 0, clearing: -its });
    }
    const [posted] = await reader.query<{ entries: number }>(
      raw(`SELECT count(*) AS entries FROM journal_entries
           WHERE transaction_id = ANY ($1::uuid[]) AND cause LIKE 'release:%'`),
      [all],
    );
    expect(posted?.entries).toBe(all.length);
  });

  it('is retried after a refusal, ever more rarely and without end, until it can be released', async () => {
    const [bad = '', ...others] = await due(4);
    await refuse(bad);
    const waits: (number | null)[] = [];
    const overdue: number[] = [];
    for (let attempt = 1; attempt <= 9; attempt++) {
      await worker().run();
      overdue.push(await worker().overdue());
      const [left] = await pending([bad]);
      expect(left?.attempts).toBe(attempt);
      waits.push(left?.wait ?? null);
      clock.advance((left?.wait ?? 0) + 1);
    }
    expect(waits).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
    // The money was due 58 minutes before the first attempt.
    expect(overdue).toEqual([0, 0, 1, 1, 1, 1, 1, 1, 1]);
    expect(await pending(others)).toEqual([]);
    await reader.query(raw('DELETE FROM spec_refused'), []);
    expect(await worker().run()).toBe(false);
    expect(await pending([bad])).toEqual([]);
    expect(await worker().overdue()).toBe(0);
  });

  it('is released even beside a row that cannot be postponed', async () => {
    const transactions = await due(5);
    const [frozen = ''] = transactions;
    await schema.database.pool.query(`ALTER TABLE releases ADD CHECK (transaction_id <> '${frozen}') NOT VALID`);
    try {
      expect(await worker().run()).toBe(false);
      expect(await pending(transactions)).toMatchObject([{ transactionId: frozen, attempts: 0, wait: null }]);
      expect(errors()).toHaveLength(2);
    } finally {
      await schema.database.pool.query('ALTER TABLE releases DROP CONSTRAINT releases_transaction_id_check');
    }
  });

  it('in a locked wallet is tried once and postponed together, since each row would wait as long', async () => {
    const held = await due(5);
    const others = await due(5);
    for (const one of held) await refuse(one, '55P03');
    expect(await worker().run()).toBe(false);
    expect(await pending(others)).toEqual([]);
    expect(await pending(held)).toMatchObject(Array.from({ length: 5 }, () => ({ attempts: 1, wait: 60 })));
    expect(errors()).toHaveLength(1);
  });

  it('in a locked wallet delays no other wallet, however much of it comes first', async () => {
    const accountId = randomUUID();
    const held = await due(410, accountId);
    const [behind = ''] = await due(1);
    await reader.query(raw(`UPDATE releases SET release_at = $2 WHERE transaction_id = $1`), [behind, clock.now()]);
    const holder = new pg.Client({ connectionString: schema.database.ownerUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM balances WHERE account_id = $1 FOR UPDATE', [accountId]);
      const one = worker();
      while (await one.run());
      // Each wait for the lock ends in an error: of the first batch, and of the first release.
      expect(logged.filter((line) => line.includes('55P03'))).toHaveLength(2);
      expect(await pending([behind])).toEqual([]);
      expect(await pending(held)).toMatchObject(Array.from({ length: 410 }, () => ({ attempts: 1, wait: 60 })));
      expect(errors()).toHaveLength(1);
      await holder.query('ROLLBACK');
    } finally {
      await holder.end();
    }
    clock.advance(61);
    while (await worker().run());
    expect(await pending(held)).toEqual([]);
  });

  it('is not postponed when the database is away', async () => {
    const transactions = await due(3);
    for (const one of transactions) await refuse(one, '57P01');
    await expect(worker().run()).rejects.toThrow('refused by the spec');
    expect(await pending(transactions)).toMatchObject(Array.from({ length: 3 }, () => ({ attempts: 0, wait: null })));
  });

  describe('with a reserve', () => {
    /** Releases of a sale: kind, amount and day after its payment. */
    type Planned = readonly [kind: string, amount: number, day: number];

    const planned = async (transactionId: string, paidAt: Date): Promise<unknown[]> => {
      const rows = await reader.query<{ kind: string; amount: number; at: Date }>(
        raw('SELECT kind, amount, release_at AS at FROM releases WHERE transaction_id = $1 ORDER BY release_at'),
        [transactionId],
      );
      const dayOf = (at: Date): number =>
        Array.from({ length: 40 }, (_, day) => day).find((day) => +releaseTimeOf(paidAt, day) === +at) ?? -1;
      return rows.map(({ kind, amount, at }) => [kind, amount, dayOf(at)]);
    };
    const passed = async (days: number): Promise<void> => {
      clock.advance(days * 86_400);
      while (await worker().run());
    };

    it.each<[string, Partial<CreditedSettlement>, number, readonly Planned[]]>([
      [
        'while the rest is available at once',
        { releaseDays: 0, reserveBps: 1_000, reserveDays: 30 },
        860,
        [['reserve', 100, 30]],
      ],
      [
        'while the rest waits for another day',
        { releaseDays: 2, reserveBps: 1_000, reserveDays: 30 },
        0,
        [
          ['sale', 860, 2],
          ['reserve', 100, 30],
        ],
      ],
      ['of all of it', { releaseDays: 2, reserveBps: 10_000, reserveDays: 3 }, 0, [['reserve', 960, 3]]],
      ['no longer than the rest', { releaseDays: 30, reserveBps: 1_000, reserveDays: 30 }, 0, [['sale', 960, 30]]],
      ['for no day', { releaseDays: 0, reserveBps: 1_000, reserveDays: 0 }, 960, []],
      [
        'of half a cent, rounded up',
        { releaseDays: 0, reserveBps: 5_000, reserveDays: 1, amount: 1, netAmount: 1, platformFee: 0 },
        0,
        [['reserve', 1, 1]],
      ],
      [
        'of less than half a cent',
        { releaseDays: 0, reserveBps: 4_999, reserveDays: 1, amount: 1, netAmount: 1, platformFee: 0 },
        1,
        [],
      ],
      [
        'of a sale that fees have taken',
        { releaseDays: 0, reserveBps: 10_000, reserveDays: 1, netAmount: 0, platformFee: 1_000 },
        0,
        [],
      ],
    ])('is released as agreed: %s', async (_, terms, available, releases) => {
      const [accountId, transactionId] = [randomUUID(), randomUUID()];
      const sale = { ...settlement(accountId, transactionId, 960), amount: 1_000, platformFee: 40, ...terms };
      await database.transaction((tx) => Promise.resolve(walletsService().credit(tx, sale)));
      expect(await planned(transactionId, sale.paidAt)).toEqual(releases);
      const pending = sale.netAmount - available;
      expect(await buckets(accountId)).toMatchObject({ available, ...(pending > 0 ? { pending } : {}) });
      let free = available;
      let day = 0;
      for (const [, amount, at] of releases) {
        await passed(at - day);
        day = at;
        free += amount;
        expect(await buckets(accountId)).toMatchObject({ available: free, pending: sale.netAmount - free });
      }
      expect(free).toBe(sale.netAmount);
      const causes = await reader.query<{ cause: string }>(
        raw(`SELECT split_part(cause, ':', 1) AS cause FROM journal_entries WHERE transaction_id = $1 ORDER BY number`),
        [transactionId],
      );
      expect(causes.map(({ cause }) => cause)).toEqual([
        'charge.paid',
        ...releases.map(([kind]) => (kind === 'reserve' ? 'release.reserve' : 'release')),
      ]);
    });

    it('keeps its day while a dispute takes the available money, and fills the balance on that day', async () => {
      const [accountId, transactionId] = [randomUUID(), randomUUID()];
      const sale = {
        ...settlement(accountId, transactionId, 1_000),
        releaseDays: 0,
        reserveBps: 3_000,
        reserveDays: 5,
      };
      await database.transaction((tx) => Promise.resolve(walletsService().credit(tx, sale)));
      const caseId = randomUUID();
      const disputed = (what: 'held' | 'released'): Promise<void> =>
        database.transaction((tx) => {
          const move = { accountId, mode: 'test', currency: 'BRL', transactionId, amount: 1_000 } as const;
          walletsService().moveDisputed(tx, [{ ...move, caseId, isCard: false, what, detail: null }]);
          return Promise.resolve();
        });
      await disputed('held');
      expect(await buckets(accountId)).toMatchObject({ available: -300, pending: 300, retained: 1_000 });
      expect(await planned(transactionId, sale.paidAt)).toEqual([['reserve', 300, 5]]);
      await passed(4);
      expect(await buckets(accountId)).toMatchObject({ available: -300, pending: 300 });
      await passed(1);
      expect(await buckets(accountId)).toMatchObject({ available: 0, pending: 0, retained: 1_000 });
      await disputed('released');
      expect(await buckets(accountId)).toMatchObject({ available: 1_000, pending: 0, retained: 0 });
    });
  });
});
