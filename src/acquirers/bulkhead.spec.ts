import { describe, expect, it } from '@jest/globals';
import { Bulkhead } from './bulkhead.js';

describe('the bulkhead', () => {
  const fail = (bulkhead: Bulkhead, times: number): void => {
    for (let n = 0; n < times; n += 1) {
      expect(bulkhead.enter('bank')).toBe(true);
      bulkhead.leave('bank', false);
    }
  };
  const enterAll = (bulkhead: Bulkhead, name = 'bank'): number =>
    Array.from({ length: 16 }, () => bulkhead.enter(name)).filter(Boolean).length;

  it('does not limit an acquirer that answers now and then', () => {
    const bulkhead = new Bulkhead();
    fail(bulkhead, 7);
    bulkhead.enter('bank');
    bulkhead.leave('bank', true);
    fail(bulkhead, 7);
    expect(enterAll(bulkhead)).toBe(16);
  });

  it('allows two waiting queries to a silent acquirer and does not limit the others', () => {
    const bulkhead = new Bulkhead();
    fail(bulkhead, 8);
    expect([enterAll(bulkhead), enterAll(bulkhead, 'other')]).toEqual([2, 16]);
    bulkhead.leave('bank', false);
    expect(enterAll(bulkhead)).toBe(1);
    bulkhead.leave('bank', true);
    expect(enterAll(bulkhead)).toBe(16);
  });

  it('keeps half of the workers for acquirers that answer while many others are silent', () => {
    const bulkhead = new Bulkhead();
    const silent = Array.from({ length: 10 }, (_, index) => `silent ${index}`);
    for (const name of silent) {
      for (let n = 0; n < 8; n += 1) {
        bulkhead.enter(name);
        bulkhead.leave(name, false);
      }
    }
    expect(silent.map((name) => enterAll(bulkhead, name))).toEqual([2, 2, 1, 1, 1, 1, 0, 0, 0, 0]);
    expect(enterAll(bulkhead, 'other')).toBe(16);
  });
});
