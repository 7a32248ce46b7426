import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Reader, read } from '../../src/core/database/index.js';
import { ReleasesRepository } from '../../src/wallets/releases.repository.js';
import { TestSchema } from '../support/schema.js';

const raw = (text: string): ReturnType<typeof read> => read('', text);
const NOW = new Date('2026-11-20T15:00:00.000Z');
const ROWS = 60_000;
const DAYS = 30;
const OF_ONE_DAY = ROWS / DAYS;

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Counts rows that scans of the table and its indexes went over, including rows that a filter dropped. */
function rowsRead(node: PlanNode): number {
  const isOurs = node['Relation Name'] === 'releases' || node['Index Name']?.startsWith('releases_') === true;
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = isOurs ? (node['Actual Rows'] + removed) * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), own);
}

describe('queries of pending money', () => {
  let schema: TestSchema;
  let reader: Reader;
  let repository: ReleasesRepository;
  const [big, other, released] = [randomUUID(), randomUUID(), randomUUID()];

  beforeAll(async () => {
    // Posts money without a sale.
    schema = await TestSchema.open('ALTER TABLE releases DISABLE TRIGGER USER');
    // Uses one connection, since it owns its prepared statements and plans.
    ({ reader } = await schema.connect(1));
    repository = new ReleasesRepository(reader);
  });
  afterAll(() => schema.close());

  async function pendingBalance(accountId: string, currency: string): Promise<void> {
    await reader.query(
      raw(
        `INSERT INTO balances (account_id, mode, currency, bucket, amount, updated_at) VALUES ($1, 'live', $2, 'pending', 1, $3)`,
      ),
      [accountId, currency, NOW],
    );
  }

  /** Makes a cent due at each of `days` successive midnights, the same for all money. */
  async function releases(
    accountId: string,
    rows: number,
    { currency = 'BRL', firstDay = 1, days = DAYS } = {},
  ): Promise<void> {
    await reader.query(
      raw(`INSERT INTO releases (id, account_id, mode, currency, transaction_id, amount, release_at)
           SELECT gen_random_uuid(), $1, 'live', $3, gen_random_uuid(), 1,
             date_trunc('day', $5::timestamptz, 'UTC') + ($4::int + n % $6::int) * interval '1 day'
           FROM generate_series(0, $2::int - 1) n`),
      [accountId, rows, currency, firstDay, NOW, days],
    );
  }

  /** Runs with the connection's current plan. */
  async function readBy(name: string, ...values: readonly string[]): Promise<number> {
    const [row] = await reader.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
      raw(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE "${name}" (${values.map((value) => `'${value}'`).join(', ')})`),
      [],
    );
    const plan = row?.['QUERY PLAN'][0]?.Plan;
    return plan ? rowsRead(plan) : Number.NaN;
  }

  it('read few rows however much waits, with plans from an empty table and with later ones', async () => {
    const scope = { accountId: big, mode: 'live' } as const;
    for (let n = 0; n < 8; n++) {
      expect(await repository.next(scope)).toEqual([]);
      expect(await repository.findDue(NOW, 200)).toEqual([]);
    }
    for (const currency of ['BRL', 'EUR', 'USD']) await pendingBalance(big, currency);
    await releases(other, ROWS, { days: 5 });
    await releases(big, ROWS);
    await releases(big, 2, { currency: 'EUR', firstDay: 5 });
    await releases(released, ROWS, { firstDay: -DAYS });
    // Most due money is released, the rest is put off, and three rows are due.
    await reader.query(raw(`UPDATE releases SET released_at = $2 WHERE account_id = $1 AND random() < 0.5`), [
      released,
      NOW,
    ]);
    await reader.query(
      raw(`UPDATE releases SET attempts = 1, next_attempt_at = $2::timestamptz + interval '1 minute'
           WHERE account_id = $1 AND released_at IS NULL`),
      [released, NOW],
    );
    await releases(released, 3, { firstDay: -3 });

    const look = async (): Promise<void> => {
      const next = await repository.next(scope);
      expect(next.sort((a, b) => a.currency.localeCompare(b.currency))).toEqual([
        { currency: 'BRL', releaseAt: new Date('2026-11-21T00:00:00.000Z'), amount: OF_ONE_DAY },
        { currency: 'EUR', releaseAt: new Date('2026-11-25T00:00:00.000Z'), amount: 1 },
      ]);
      expect(await repository.findDue(NOW, 200)).toHaveLength(3);
      // Each currency has its own days.
      const planned = (await repository.calendar(scope, null, 5)).map(({ currency }) => currency);
      expect(planned.sort()).toEqual(['BRL', 'BRL', 'BRL', 'BRL', 'BRL', 'EUR', 'EUR']);
      // Rows of that day in the index and the table, out of 150 000.
      expect(await readBy('releases.next', big, 'live')).toBeLessThan(2 * OF_ONE_DAY + 20);
      expect(await readBy('releases.find_due', NOW.toISOString(), '200')).toBeLessThan(20);
    };
    await look();
    await schema.database.pool.query('ANALYZE releases');
    for (let n = 0; n < 8; n++) await look();
  });
});
