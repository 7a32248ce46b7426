import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TurnBatch } from './turn-batch.js';

describe('TurnBatch', () => {
  function batchOf(values: Record<string, number>): { batch: TurnBatch<number>; loads: string[][] } {
    const loads: string[][] = [];
    const batch = new TurnBatch<number>(async (keys) => {
      loads.push([...keys]);
      const found = new Map(Object.entries(values).filter(([key]) => keys.includes(key)));
      await nextTurn();
      return found;
    });
    return { batch, loads };
  }

  it('looks up together what is asked for in one turn, and gives each its own', async () => {
    const { batch, loads } = batchOf({ a: 1, b: 2 });
    await expect(Promise.all(['a', 'b', 'a', 'c'].map((key) => batch.find(key)))).resolves.toEqual([1, 2, 1, null]);
    expect(loads).toEqual([['a', 'b', 'a', 'c']]);
  });

  it('remembers nothing: who asks while a query is under way gets a later one', async () => {
    const values = { a: 1 };
    const { batch, loads } = batchOf(values);
    const first = batch.find('a');
    await nextTurn();
    values.a = 2;
    const second = batch.find('a');
    expect([await first, await second]).toEqual([1, 2]);
    expect(loads).toEqual([['a'], ['a']]);
  });

  it('fails everybody of a query that failed, and nobody else', async () => {
    let fails = true;
    const batch = new TurnBatch<number>(async () => {
      if (fails) throw new Error('connection lost');
      return new Map([['a', 1]]);
    });
    const failed = await Promise.allSettled([batch.find('a'), batch.find('b')]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    await expect(batch.find('a')).resolves.toBe(1);
  });
});
