import { describe, expect, it } from '@jest/globals';
import { Bulkhead } from './bulkhead.js';

describe('patience with an acquirer', () => {
  const fail = (patience: Bulkhead, times: number): void => {
    for (let n = 0; n < times; n += 1) {
      expect(patience.enter('bank')).toBe(true);
      patience.leave('bank', false);
    }
  };
  const enterAll = (patience: Bulkhead, name = 'bank'): number =>
    Array.from({ length: 16 }, () => patience.enter(name)).filter(Boolean).length;

  it('that answers now and then has no end', () => {
    const patience = new Bulkhead();
    fail(patience, 7);
    patience.enter('bank');
    patience.leave('bank', true);
    fail(patience, 7);
    expect(enterAll(patience)).toBe(16);
  });

  it('that is silent leaves two to wait for it, and the others alone', () => {
    const patience = new Bulkhead();
    fail(patience, 8);
    expect([enterAll(patience), enterAll(patience, 'other')]).toEqual([2, 16]);
    patience.leave('bank', false);
    expect(enterAll(patience)).toBe(1);
    patience.leave('bank', true);
    expect(enterAll(patience)).toBe(16);
  });
});
