import { describe, expect, it } from '@jest/globals';
import { MemoryWindows } from './memory-windows.js';

const policy = { limit: 2, windowSeconds: 60 };

describe('MemoryWindows', () => {
  it('keeps about as many keys as were used within their window', () => {
    const windows = new MemoryWindows(1_000_000);
    for (let index = 0; index < 10_000; index++) windows.take(`key-${String(index)}`, 'm', policy, index * 1_000);
    expect(windows.size).toBeLessThanOrEqual(62);
  });

  it('is bounded, and forgets the least recently counted window first', () => {
    const windows = new MemoryWindows(3);
    for (const key of ['a', 'b', 'c']) windows.take(key, 'one', policy, 0);
    windows.take('a', 'two', policy, 1);
    for (let index = 0; index < 2; index++) windows.take(`new-${String(index)}`, 'one', policy, 2);
    expect(windows.size).toBe(3);
    expect(windows.take('a', 'three', policy, 3)).toMatchObject({ allowed: false });
  });
});
