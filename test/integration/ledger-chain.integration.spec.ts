import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OperatorQueues } from '../../src/core/operator-queues.js';
import { Clock } from '../../src/core/clock.js';
import type { Database } from '../../src/core/database/index.js';
import { Poller } from '../../src/core/queue/index.js';
import { LedgerChainRepository } from '../../src/wallets/ledger-chain.repository.js';
import { LedgerChainService, LedgerService } from '../../src/wallets/index.js';
import { WalletsRepository } from '../../src/wallets/wallets.repository.js';
import { SILENT, TestSchema } from '../support/schema.js';
import { TestClock } from '../support/service.js';

describe('the chain over the journal', () => {
  let schema: TestSchema;
  let database: Database;
  let ledger: LedgerService;
  let chain: LedgerChainService;
  let clock: TestClock;

  beforeAll(async () => {
    schema = await TestSchema.open();
    const doors = await schema.connect(20);
    ({ database } = doors);
    ledger = new LedgerService(new WalletsRepository(doors.reader, new OperatorQueues(doors.reader)), new Clock());
    const repository = new LedgerChainRepository(doors.reader);
    clock = new TestClock();
    chain = new LedgerChainService(database, repository, new Poller({ logger: SILENT }), clock);
  });
  afterAll(() => schema.close());

  /** Posts that many entries of a wallet in one statement. */
  async function history(count: number, accountId: string = randomUUID(), currency = 'BRL'): Promise<string> {
    await database.transaction(async (tx) =>
      ledger.post(
        tx,
        Array.from({ length: count }, (_, index) => ({
          accountId,
          mode: 'test' as const,
          currency,
          cause: `charge.paid:${randomUUID()}`,
          type: 'sale' as const,
          transactionId: randomUUID(),
          lines: { clearing: -100 - index, available: 90 + index, platform_fees: 10 },
        })),
      ),
    );
    return accountId;
  }

  async function link(): Promise<void> {
    while (await chain.link());
  }

  /** Writes as the owner of the tables with triggers off. `$1` is the account. */
  async function tamper(sql: string, accountId: string): Promise<void> {
    const client = await schema.database.pool.connect();
    try {
      await client.query('SET session_replication_role = replica');
      for (const statement of sql.split(';')) {
        const { rowCount } = await client.query(statement.replaceAll('$1', `'${accountId}'`));
        expect(rowCount).toBeGreaterThan(0);
      }
    } finally {
      await client.query('RESET session_replication_role');
      client.release();
    }
  }

  const SEVENTH = `(SELECT id FROM journal_entries WHERE account_id = $1 AND number = 7)`;
  const COPY = `INSERT INTO journal_entries (id, account_id, mode, currency, cause, type, transaction_id, number, created_at)
    SELECT gen_random_uuid(), account_id, mode, currency, cause || 'x', type, transaction_id`;

  it.each([
    ['a cent', `UPDATE journal_lines SET amount = amount + 1 WHERE line = 2 AND entry_id = ${SEVENTH}`, 7, 'changed'],
    [
      'one byte',
      `UPDATE journal_entries SET cause = overlay(cause PLACING chr(ascii(substr(cause, 20, 1)) + 1) FROM 20) WHERE id = ${SEVENTH}`,
      7,
      'changed',
    ],
    [
      'the bucket',
      `UPDATE journal_lines SET bucket = 'retained' WHERE line = 2 AND entry_id = ${SEVENTH}`,
      7,
      'changed',
    ],
    [
      'the balance after it',
      `UPDATE journal_lines SET balance_after = 0 WHERE line = 2 AND entry_id = ${SEVENTH}`,
      7,
      'changed',
    ],
    [
      'its time',
      `UPDATE journal_entries SET created_at = created_at + interval '1 microsecond' WHERE id = ${SEVENTH}`,
      7,
      'changed',
    ],
    ['its sale', `UPDATE journal_entries SET transaction_id = NULL WHERE id = ${SEVENTH}`, 7, 'changed'],
    [
      'whose line it is',
      `UPDATE journal_lines SET account_id = gen_random_uuid() WHERE line = 2 AND entry_id = ${SEVENTH}`,
      7,
      'changed',
    ],
    [
      'a line more',
      `INSERT INTO journal_lines (entry_id, line, account_id, mode, currency, bucket, amount, number, created_at, balance_after)
      SELECT entry_id, 9, account_id, mode, currency, 'retained', 5, number, created_at, 5 FROM journal_lines WHERE line = 2 AND entry_id = ${SEVENTH}`,
      7,
      'changed',
    ],
    ['a line less', `DELETE FROM journal_lines WHERE line = 3 AND entry_id = ${SEVENTH}`, 7, 'changed'],
    [
      'its hash',
      `UPDATE journal_hashes SET hash = set_byte(hash, 31, get_byte(hash, 31) # 1) WHERE account_id = $1 AND number = 7`,
      7,
      'changed',
    ],
    [
      'its removal',
      `DELETE FROM journal_lines WHERE entry_id = ${SEVENTH}; DELETE FROM journal_entries WHERE account_id = $1 AND number = 7`,
      7,
      'removed',
    ],
    [
      'its removal with its hash',
      `DELETE FROM journal_entries WHERE account_id = $1 AND number = 7; DELETE FROM journal_hashes WHERE account_id = $1 AND number = 7`,
      7,
      'removed',
    ],
    [
      'the removal of the newest',
      `DELETE FROM journal_entries WHERE account_id = $1 AND number > 18; DELETE FROM journal_hashes WHERE account_id = $1 AND number > 18`,
      19,
      'removed',
    ],
    [
      'the removal of all',
      `DELETE FROM journal_entries WHERE account_id = $1; DELETE FROM journal_hashes WHERE account_id = $1`,
      1,
      'removed',
    ],
    [
      'the removal of the balances',
      `DELETE FROM balances WHERE account_id = $1; DELETE FROM journal_entries WHERE account_id = $1 AND number = 20`,
      20,
      'removed',
    ],
    ['an entry behind the others', `${COPY}, 21, created_at FROM journal_entries WHERE id = ${SEVENTH}`, 21, 'added'],
    ['an entry before the others', `${COPY}, 0, created_at FROM journal_entries WHERE id = ${SEVENTH}`, 0, 'added'],
    [
      'an entry in the place of another',
      `UPDATE journal_entries SET number = 99 WHERE id = ${SEVENTH};
      ${COPY}, 7, created_at FROM journal_entries WHERE account_id = $1 AND number = 99; DELETE FROM journal_entries WHERE account_id = $1 AND number = 99`,
      7,
      'added',
    ],
    [
      'two that change places',
      `UPDATE journal_entries SET number = -1 WHERE id = ${SEVENTH};
      UPDATE journal_entries SET number = 7 WHERE account_id = $1 AND number = 12;
      UPDATE journal_entries SET number = 12 WHERE account_id = $1 AND number = -1`,
      7,
      'added',
    ],
  ])('finds and locates %s', async (_what, sql, number, what) => {
    const accountId = await history(20);
    const intact = await history(20);
    await link();
    expect(await chain.verify(accountId)).toMatchObject({ wallets: 1, entries: 20, notYetLinked: 0, broken: [] });
    await tamper(sql, accountId);
    const found = await chain.verify(accountId);
    expect(found.broken).toMatchObject([{ accountId, mode: 'test', currency: 'BRL', number, what }]);
    expect(found.heads).toEqual([]);
    // Over all accounts only this one is named.
    const all = (await chain.verify(null)).broken.map((link) => link.accountId);
    expect(all.filter((id) => id === accountId || id === intact)).toEqual([accountId]);
  });

  it.each([
    [
      'a line in the entry of another wallet',
      `INSERT INTO journal_lines
        (entry_id, line, account_id, mode, currency, bucket, amount, number, created_at, balance_after)
      SELECT (SELECT id FROM journal_entries WHERE account_id <> $1 LIMIT 1), 9, account_id, mode, currency, bucket, 5,
        number, created_at, balance_after + 5 FROM journal_lines WHERE account_id = $1 AND number = 7 AND bucket = 'available'`,
      7,
      'changed',
    ],
    [
      'two lines more in an entry',
      `INSERT INTO journal_lines
        (entry_id, line, account_id, mode, currency, bucket, amount, number, created_at, balance_after)
      SELECT entry_id, line + 5, account_id, mode, currency, bucket, CASE bucket WHEN 'clearing' THEN -5 ELSE 5 END,
        number, created_at, balance_after FROM journal_lines WHERE account_id = $1 AND number = 20 AND bucket <> 'platform_fees'`,
      20,
      'changed',
    ],
    [
      'a balance after a line',
      `UPDATE journal_lines SET balance_after = balance_after + 1
      WHERE account_id = $1 AND number = 7 AND bucket = 'available'`,
      7,
      'changed',
    ],
    [
      'an entry of an earlier time than the one before it',
      `UPDATE journal_lines SET created_at = created_at - interval '40 days' WHERE account_id = $1 AND number = 20;
      UPDATE journal_entries SET created_at = created_at - interval '40 days' WHERE account_id = $1 AND number = 20`,
      20,
      'changed',
    ],
    [
      'a balance',
      `UPDATE balances SET amount = amount + 1 WHERE account_id = $1 AND bucket = 'available'`,
      20,
      'balance',
    ],
  ])('finds %s that does not add up, before the entry is linked', async (_what, sql, number, what) => {
    await history(5);
    const accountId = await history(20);
    expect((await chain.verify(accountId)).broken).toEqual([]);
    await tamper(sql, accountId);
    const [found] = (await chain.verify(accountId)).broken;
    expect(found).toMatchObject({ accountId, mode: 'test', currency: 'BRL', number, what });
    expect((await chain.verify(null)).broken).toContainEqual(expect.objectContaining({ accountId, number, what }));
  });

  it('reports a stall when no worker links', async () => {
    const accountId = await history(3);
    expect(await chain.verify(accountId)).toMatchObject({ notYetLinked: 3, isStalled: false });
    clock.offsetMs = 11 * 60_000;
    try {
      expect(await chain.verify(accountId)).toMatchObject({ notYetLinked: 3, isStalled: true });
      await link();
      expect(await chain.verify(accountId)).toMatchObject({ notYetLinked: 0, isStalled: false });
    } finally {
      clock.offsetMs = 0;
    }
  });

  it('finds entries removed before they were linked, and links the rest', async () => {
    const accountId = await history(20);
    await tamper(`DELETE FROM journal_entries WHERE account_id = $1 AND number = 7`, accountId);
    expect((await chain.verify(accountId)).broken).toMatchObject([{ number: 7, what: 'removed', entryId: null }]);
    await link();
    expect((await chain.verify(accountId)).broken).toMatchObject([{ number: 7, what: 'removed' }]);
    expect((await chain.verify(accountId)).notYetLinked).toBe(0);
  });

  it('follows long chains, one per currency, and shows their heads', async () => {
    const accountId = randomUUID();
    for (let step = 0; step < 5; step++) await history(500, accountId);
    await history(3, accountId, 'USD');
    await link();
    const before = await chain.verify(accountId);
    expect(before).toMatchObject({ wallets: 2, entries: 2503, broken: [] });
    expect(before.heads.map(({ currency, number }) => [currency, number])).toEqual([
      ['BRL', 2500],
      ['USD', 3],
    ]);
    expect((await chain.verify(accountId)).heads).toEqual(before.heads);
    await tamper(
      'UPDATE journal_lines SET amount = amount - 1 WHERE account_id = $1 AND number IN (1001, 2000)',
      accountId,
    );
    const { broken, heads } = await chain.verify(accountId);
    expect(broken.map(({ currency, number }) => [currency, number])).toEqual([['BRL', 1001]]);
    expect(heads.map(({ currency }) => currency)).toEqual(['USD']);
  });

  it('links new postings by several workers, without a false alarm and without blocking', async () => {
    const accountId = randomUUID();
    let posting = true;
    const posted = Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let step = 0; step < 25; step++) await history(2, accountId);
      }),
    ).finally(() => (posting = false));
    const worker = async (): Promise<void> => {
      while (posting) await chain.link();
    };
    const reader = async (): Promise<void> => {
      while (posting) expect((await chain.verify(accountId)).broken).toEqual([]);
    };
    await Promise.all([posted, worker(), worker(), reader()]);
    await link();
    expect(await chain.verify(accountId)).toMatchObject({ entries: 300, notYetLinked: 0, broken: [] });
  });

  it('is linked by one worker at a time, and posting never waits for it', async () => {
    const accountId = await history(1);
    const busy = await schema.database.pool.connect();
    try {
      // Simulates a worker that has linked this wallet and does not reach its commit.
      await busy.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('ledger_chain', 0))`);
      await busy.query(
        `INSERT INTO journal_hashes SELECT account_id, mode, currency, number, id, '' FROM journal_entries WHERE account_id = $1`,
        [accountId],
      );
      expect(await chain.link()).toBe(false);
      await history(1, accountId);
      expect(await chain.verify(accountId)).toMatchObject({ entries: 2, notYetLinked: 2, broken: [] });
    } finally {
      await busy.query('ROLLBACK');
      busy.release();
    }
    await link();
    expect(await chain.verify(accountId)).toMatchObject({ entries: 2, notYetLinked: 0, broken: [] });
  });
});
