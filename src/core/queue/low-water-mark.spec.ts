import { describe, expect, it } from '@jest/globals';
import { LowWaterMark } from './low-water-mark.js';

/** A queue of keys. A claim takes the lowest keys from a given key on. */
class Queue {
  clock = 0;
  readonly mark = new LowWaterMark({ least: 10, most: 60 }, () => this.clock);
  readonly #keys = new Set<number>();

  add(...keys: number[]): this {
    for (const key of keys) this.#keys.add(key);
    return this;
  }

  /** @param now up to which keys are due @returns from where was read, and what was taken */
  claim(now: number, limit = 100): { from: number; taken: number[] } {
    const from = this.mark.next(now);
    const due = [...this.#keys].filter((key) => key >= from && key <= now).sort((a, b) => a - b);
    const taken = due.slice(0, limit);
    for (const key of taken) this.#keys.delete(key);
    this.mark.taken(from, taken[0] ?? null, taken.length < limit ? now : (taken.at(-1) ?? null));
    return { from, taken };
  }
}

describe('LowWaterMark', () => {
  it('reads from the beginning first, then from a margin below the mark', () => {
    const queue = new Queue().add(5, 900);
    expect(queue.claim(1_000)).toEqual({ from: 0, taken: [5, 900] });
    expect(queue.add(995).claim(1_005)).toEqual({ from: 990, taken: [995] });
    expect(queue.claim(1_020)).toEqual({ from: 995, taken: [] });
  });

  it('moves only to the last taken key when more rows wait', () => {
    const queue = new Queue().add(100, 200, 300, 400);
    expect(queue.claim(1_000, 2).taken).toEqual([100, 200]);
    expect(queue.claim(1_000, 2)).toEqual({ from: 190, taken: [300, 400] });
  });

  it('reads from the beginning every five seconds, so that keys below the mark are found', () => {
    const queue = new Queue();
    queue.claim(1_000);
    expect(queue.add(3).claim(1_001).taken).toEqual([]);
    queue.clock += 4_999;
    expect(queue.claim(1_002).taken).toEqual([]);
    queue.clock += 1;
    expect(queue.claim(1_003)).toEqual({ from: 0, taken: [3] });
  });

  it('reads from the beginning again as long as it finds keys there', () => {
    const queue = new Queue();
    queue.claim(1_000);
    queue.clock += 5_000;
    queue.add(1, 2, 3, 4, 5);
    expect(queue.claim(1_001, 2)).toEqual({ from: 0, taken: [1, 2] });
    expect(queue.claim(1_001, 2)).toEqual({ from: 0, taken: [3, 4] });
    expect(queue.claim(1_001, 2)).toEqual({ from: 0, taken: [5] });
    expect(queue.claim(1_001, 2).from).toBe(0);
    expect(queue.claim(1_001, 2).from).toBeGreaterThan(0);
  });

  it('widens the margin for late keys up to its limit, and narrows it slowly', () => {
    const queue = new Queue();
    queue.claim(1_000);
    queue.clock += 5_000;
    queue.add(970).claim(1_001);
    queue.claim(1_001);
    // The mark missed a key 20 below a margin of 10: from now on it sees keys that are 30 late at once.
    expect(queue.add(971).claim(1_001).taken).toEqual([971]);
    queue.clock += 5_000;
    queue.add(1).claim(1_001);
    queue.claim(1_001);
    expect(queue.claim(1_001).from).toBeGreaterThanOrEqual(941);
    for (let reading = 0; reading < 500; reading++) {
      queue.clock += 5_000;
      queue.claim(1_001);
    }
    expect(queue.claim(1_001).from).toBe(991);
  });

  it('keeps a margin that is still needed, and gives whole numbers', () => {
    const queue = new Queue();
    queue.claim(1_000);
    queue.clock += 5_000;
    queue.add(965).claim(1_001);
    queue.claim(1_001);
    for (let reading = 0; reading < 200; reading++) {
      expect(queue.add(965).claim(1_001).taken).toEqual([965]);
      queue.clock += 5_000;
      queue.claim(1_001);
      expect(queue.mark.next(1_001)).toBe(Math.floor(queue.mark.next(1_001)));
    }
  });

  it('reads from the beginning when the clock was set back', () => {
    const queue = new Queue();
    queue.claim(1_000);
    expect(queue.add(400).claim(500)).toEqual({ from: 0, taken: [400] });
    expect(queue.add(495).claim(500).taken).toEqual([495]);
  });
});
