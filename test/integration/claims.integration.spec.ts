import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  claimDue,
  type Database,
  lockDue,
  type Reader,
  read,
  removeDue,
  write,
} from '../../src/core/database/index.js';
import { TestSchema } from '../support/schema.js';

const TASKS = `CREATE TABLE tasks (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), number int, due_at timestamptz, attempts int DEFAULT 0)`;
const FILL = write(
  'spec.fill',
  `INSERT INTO tasks (number, due_at) SELECT n, $1::timestamptz + n * interval '1 minute' FROM generate_series(1, 20) n`,
);
const CLEAR = write('spec.clear', 'DELETE FROM tasks');
/** The worst plan for a claim: a join that runs its inner side again for each row of the table. */
const BY_NESTED_LOOPS = write(
  'spec.nested_loops',
  `SELECT ${['hashjoin', 'mergejoin', 'material', 'hashagg', 'sort', 'indexscan', 'bitmapscan']
    .map((plan) => `set_config('enable_${plan}', 'off', true)`)
    .join(', ')}`,
);
const LEASED = { dueAt: 'due_at', set: 'due_at = $3, attempts = attempts + 1', returning: 'number' };
const LEASE = claimDue('spec.lease', 'tasks', LEASED);
const LEASE_BY_PLACE = claimDue('spec.lease_by_place', 'tasks', { key: 'ctid', ...LEASED });
const LOCK = write('spec.lock', lockDue('number', 'tasks', { dueAt: 'due_at', where: 'number % 2 = 0' }));
const REMOVE = removeDue('spec.remove', 'tasks', { dueAt: 'due_at' });
const ROWS = read('spec.rows', 'SELECT number FROM tasks WHERE due_at <= $1 ORDER BY number');

const START = new Date('2026-11-20T15:00:00.000Z');
const minutes = (count: number): Date => new Date(START.getTime() + count * 60_000);
const NOW = minutes(10);
const LATER = minutes(100);

describe('the claim of due rows', () => {
  let schema: TestSchema;
  let database: Database;
  let reader: Reader;

  beforeAll(async () => {
    schema = await TestSchema.open(TASKS);
    ({ database, reader } = await schema.connect(3));
  });
  beforeEach(() =>
    database.transaction(async (tx) => {
      await tx.query(CLEAR, []);
      await tx.query(FILL, [START]);
    }),
  );
  afterAll(() => schema.close());

  const numbers = (rows: readonly { number: number }[]): number[] =>
    rows.map(({ number }) => number).sort((a, b) => a - b);
  const dueAt = async (time: Date): Promise<number[]> => numbers(await reader.query<{ number: number }>(ROWS, [time]));

  it.each([
    ['id', LEASE],
    ['ctid', LEASE_BY_PLACE],
  ])('takes the rows that are due longest, at most its limit, under any plan, by %s', async (_, statement) => {
    const claimed = await database.transaction(async (tx) => {
      await tx.query(BY_NESTED_LOOPS, []);
      return tx.query<{ number: number }>(statement, [NOW, 4, LATER]);
    });
    expect(numbers(claimed)).toEqual([1, 2, 3, 4]);
    expect(await dueAt(NOW)).toEqual([5, 6, 7, 8, 9, 10]);
    expect(await dueAt(LATER)).toHaveLength(20);
  });

  it('leaves rows that another worker has claimed or locked, without waiting for them', async () => {
    await database.transaction(async (first) => {
      expect(numbers(await first.query(LOCK, [NOW, 2]))).toEqual([2, 4]);
      const second = schema
        .connect(1)
        .then(({ database: other }) =>
          other.transaction(async (tx) => tx.query<{ number: number }>(LEASE, [NOW, 3, LATER])),
        );
      expect(numbers(await second)).toEqual([1, 3, 5]);
    });
  });

  it('gives a claimed row back when its transaction fails', async () => {
    const failing = database.transaction(async (tx) => {
      await tx.query(LEASE, [NOW, 4, LATER]);
      throw new Error('the work failed');
    });
    await expect(failing).rejects.toThrow('the work failed');
    expect(await dueAt(NOW)).toHaveLength(10);
  });

  it('removes due rows and counts them', async () => {
    const removed = await database.transaction(async (tx) => [
      (await tx.query(REMOVE, [NOW, 7])).length,
      (await tx.query(REMOVE, [NOW, 7])).length,
    ]);
    expect(removed).toEqual([7, 3]);
    expect(await dueAt(LATER)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  });
});
