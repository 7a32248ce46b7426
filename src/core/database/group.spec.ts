import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { waitFor } from '../../../test/support/wait.js';
import { Group } from './group.js';
import { LeaveGroup, leaveGroup, SharedTx } from './shared-tx.js';
import { Tx } from './tx.js';

type Work = (tx: Tx) => Promise<unknown>;

/** The works of these specs send no statement. */
const NO_CLIENT = {} as PoolClient;

/** A database whose transactions end when the test says so. */
class SlowDatabase {
  /** How many were in each transaction, 0 for one that was alone. */
  readonly sizes: number[] = [];
  readonly #ends: (() => void)[] = [];
  failure: Error | null = null;

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    this.sizes.push(0);
    return work(new Tx(NO_CLIENT));
  }

  async shared(works: readonly Work[]): Promise<unknown[]> {
    this.sizes.push(works.length);
    const tx = new SharedTx(NO_CLIENT);
    const results = await Promise.allSettled(works.map((work) => work(tx)));
    await new Promise<void>((resolve) => this.#ends.push(resolve));
    if (this.failure !== null) throw this.failure;
    return results.map((result) => {
      if (result.status === 'fulfilled') return result.value;
      if (result.reason instanceof LeaveGroup) return result.reason;
      throw result.reason;
    });
  }

  async end(): Promise<void> {
    this.#ends.shift()?.();
    await nextTurn();
    await nextTurn();
  }
}

describe('Group', () => {
  const setUp = (most = 64): { database: SlowDatabase; group: Group; ask: typeof ask } => {
    const database = new SlowDatabase();
    const group = new Group(database, most);
    const ask = <T>(about: string, work: (tx: Tx) => Promise<T>, account = 'a'): Promise<T> =>
      group.run({ owner: account, conflictKey: about }, work);
    return { database, group, ask };
  };
  const answer = (value: string) => (): Promise<string> => Promise.resolve(value);

  it('runs a single work alone in the next turn', async () => {
    const { database, ask } = setUp();
    expect(await ask('1', answer('one'))).toBe('one');
    expect(database.sizes).toEqual([0]);
  });

  it('runs works of one turn together and gives each its own result', async () => {
    const { database, ask } = setUp();
    const asked = Promise.all(['1', '2', '3'].map((about) => ask(about, answer(about))));
    await nextTurn();
    await database.end();
    expect(await asked).toEqual(['1', '2', '3']);
    expect(database.sizes).toEqual([3]);
  });

  it('runs two groups at once and collects later works for the next one', async () => {
    const { database, ask } = setUp();
    const asked: Promise<string>[] = [];
    for (let turn = 0; turn < 5; turn++) {
      asked.push(ask(`${turn}a`, answer('a')), ask(`${turn}b`, answer('b')));
      await nextTurn();
      await nextTurn();
    }
    expect(database.sizes).toEqual([2, 2]);
    await database.end();
    expect(database.sizes).toEqual([2, 2, 6]);
    await database.end();
    await database.end();
    expect(await Promise.all(asked)).toHaveLength(10);
  });

  it('takes at most its limit of works, and accounts take turns', async () => {
    const { database, ask } = setUp(4);
    const order: string[] = [];
    const note = (name: string) => async (): Promise<void> => void order.push(name);
    const asked = [
      ...['1', '2', '3', '4', '5', '6'].map((about) => ask(about, note(`a${about}`), 'a')),
      ask('b1', note('b1'), 'b'),
      ask('b2', note('b2'), 'b'),
    ];
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4', 'a5', 'a6']);
    expect(database.sizes).toEqual([4, 4]);
    await database.end();
    await database.end();
    await Promise.all(asked);
  });

  it('never takes two works with the same conflict key', async () => {
    const { database, ask } = setUp();
    const asked = [ask('1', answer('first')), ask('1', answer('second')), ask('2', answer('other'))];
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    await database.end();
    expect(await Promise.all(asked)).toEqual(['first', 'second', 'other']);
    expect(database.sizes).toEqual([2, 0]);
  });

  it('repeats each work alone after a failure, and keeps the failing owner out of groups for a while', async () => {
    const { database, ask } = setUp();
    const asked = Promise.allSettled([
      ask('1', answer('fine'), 'good'),
      ask('2', () => Promise.reject(new Error('broken')), 'bad'),
    ]);
    await nextTurn();
    await database.end();
    expect(await asked).toMatchObject([{ value: 'fine' }, { reason: new Error('broken') }]);
    expect(database.sizes).toEqual([2, 0, 0]);
    const later = [ask('3', answer('x'), 'bad'), ask('4', answer('y'), 'good'), ask('5', answer('z'), 'good')];
    await nextTurn();
    await database.end();
    expect(await Promise.all(later)).toEqual(['x', 'y', 'z']);
    expect(database.sizes).toEqual([2, 0, 0, 0, 2]);
  });

  it('runs a work alone that leaves its group, and the others together', async () => {
    const { database, ask } = setUp();
    const asked = [
      ask('1', answer('fine')),
      ask('2', async (tx) => {
        leaveGroup(tx);
        return 'alone';
      }),
      ask('3', answer('fine too')),
    ];
    await nextTurn();
    await database.end();
    expect(await Promise.all(asked)).toEqual(['fine', 'alone', 'fine too']);
    expect(database.sizes).toEqual([3, 0]);
  });

  it('fails together when the database is away', async () => {
    const { database, ask } = setUp();
    database.failure = Object.assign(new Error('gone'), { code: 'ECONNRESET' });
    const asked = Promise.allSettled([ask('1', answer('x')), ask('2', answer('y'))]);
    await nextTurn();
    await database.end();
    expect(await asked).toMatchObject([{ reason: { message: 'gone' } }, { reason: { message: 'gone' } }]);
    expect(database.sizes).toEqual([2]);
  });

  it('runs each work alone when the largest group is 1', async () => {
    const { database, ask } = setUp(1);
    expect(await Promise.all([ask('1', answer('x')), ask('2', answer('y'))])).toEqual(['x', 'y']);
    expect(database.sizes).toEqual([0, 0]);
  });

  it('frees the place of a group that waits for a row after a second, so that it delays no other group', async () => {
    const { database, ask } = setUp();
    const asked: Promise<string>[] = [];
    for (let turn = 0; turn < 3; turn++) {
      asked.push(ask(`${turn}a`, answer('a')), ask(`${turn}b`, answer('b')));
      await nextTurn();
    }
    expect(database.sizes).toEqual([2, 2]);
    await waitFor('the third group', () => database.sizes.length > 2);
    expect(database.sizes).toEqual([2, 2, 2]);
    for (let end = 0; end < 3; end++) await database.end();
    expect(await Promise.all(asked)).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  });

  it('runs an owner alone after a failure, also when only the work sets the owner', async () => {
    const { database, group } = setUp();
    const run = (about: string, owner: string, failure: Error | null): Promise<string> =>
      group.run({ owner: about, conflictKey: about }, (tx, setOwner) => {
        setOwner(owner);
        if (failure && !(tx instanceof SharedTx)) return Promise.reject(failure);
        return Promise.resolve(about);
      });
    database.failure = new Error('a balance is full');
    const asked = Promise.allSettled([run('1', 'full', new Error('full')), run('2', 'other', null)]);
    await nextTurn();
    await database.end();
    expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    database.failure = null;
    const again = Promise.all([run('3', 'full', null), run('4', 'other', null)]);
    await nextTurn();
    await database.end();
    expect(await again).toEqual(['3', '4']);
    expect(database.sizes).toEqual([2, 0, 0, 2, 0]);
  });
});
