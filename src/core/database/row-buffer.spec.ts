import { beforeEach, describe, expect, it } from '@jest/globals';
import { RowBuffer } from './row-buffer.js';

function pgError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('RowBuffer', () => {
  let written: number[][];
  let dropped: [number, unknown][];
  let fail: Error | null;
  let hold: Promise<void> | null;
  let buffer: RowBuffer<number>;

  beforeEach(() => {
    written = [];
    dropped = [];
    fail = null;
    hold = null;
    buffer = new RowBuffer<number>({
      batch: 3,
      max: 7,
      insert: async (rows) => {
        await hold;
        if (fail) throw fail;
        written.push([...rows]);
      },
      onDropped: (rows, error) => dropped.push([rows, error]),
    });
  });

  const add = (...rows: number[]): boolean[] => rows.map((row) => buffer.add(row));

  it('reports a full batch, and writes it in order', async () => {
    expect(add(1, 2, 3, 4)).toEqual([false, false, true, true]);
    expect(await buffer.flush()).toBe(false);
    expect(await buffer.flush()).toBe(false);
    expect(await buffer.flush()).toBe(false);
    expect(written).toEqual([[1, 2, 3], [4]]);
    expect(buffer.size).toBe(0);
  });

  it('reports after a flush whether another full batch waits', async () => {
    add(1, 2, 3, 4, 5, 6);
    expect(await buffer.flush()).toBe(true);
    expect(await buffer.flush()).toBe(false);
  });

  it.each(['ECONNREFUSED', '57P01', '53300', '55P03'])(
    'keeps rows in their order while the database is away (%s), and drops the newest beyond its bound',
    async (code) => {
      fail = pgError(code);
      add(1, 2, 3, 4);
      expect(await buffer.flush()).toBe(false);
      expect(buffer.size).toBe(4);
      add(5, 6, 7, 8, 9);
      expect(dropped).toEqual([
        [1, null],
        [1, null],
      ]);
      fail = null;
      await buffer.drain();
      expect(written).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
    },
  );

  it('drops a batch that the database will never take, so that it does not block the others', async () => {
    add(1, 2, 3, 4);
    fail = pgError('22021');
    expect(await buffer.flush()).toBe(false);
    expect(dropped).toEqual([[3, fail]]);
    fail = null;
    await buffer.drain();
    expect(written).toEqual([[4]]);
  });

  it('writes each row once when two callers flush at once, and accepts rows meanwhile', async () => {
    let open: () => void = () => undefined;
    hold = new Promise((resolve) => (open = resolve));
    add(1, 2);
    const flushes = [buffer.flush(), buffer.flush()];
    add(3, 4);
    open();
    await Promise.all(flushes);
    await buffer.drain();
    expect(written).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('gives up draining when the database is away', async () => {
    add(1, 2, 3, 4);
    fail = pgError('ECONNREFUSED');
    await buffer.drain();
    expect(buffer.size).toBe(4);
  });
});
