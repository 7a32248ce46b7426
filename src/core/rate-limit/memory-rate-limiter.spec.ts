import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MemoryRateLimiter } from './memory-rate-limiter.js';

describe('MemoryRateLimiter', () => {
  it('answers like a model that counts and refills tokens', () => {
    const steps = fc.array(
      fc.record({ wait: fc.integer({ min: 0, max: 3_000 }), cost: fc.integer({ min: 1, max: 4 }) }),
      {
        minLength: 1,
        maxLength: 60,
      },
    );
    // Rates and waits are binary fractions, so that the model's sums are exact and no tolerance hides a difference.
    const rate = fc.constantFrom(0.125, 0.5, 1, 2, 4);
    fc.assert(
      fc.property(rate, fc.integer({ min: 4, max: 20 }), steps, (rate, burst, steps) => {
        let now = 0;
        const limiter = new MemoryRateLimiter({ now: () => now });
        let tokens = burst;
        for (const { wait, cost } of steps) {
          const seconds = Math.round((wait / 1000) * 8) / 8;
          now += seconds * 1000;
          tokens = Math.min(burst, tokens + seconds * rate);
          const allowed = tokens >= cost;
          if (allowed) tokens -= cost;
          expect(limiter.take('key', { rate, burst }, cost)).toEqual({
            allowed,
            limit: burst,
            remaining: Math.floor(tokens),
            resetSeconds: Math.ceil((burst - tokens) / rate),
            retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((cost - tokens) / rate)),
          });
        }
      }),
    );
  });

  it('forgets buckets that are full again', () => {
    let now = 0;
    const limiter = new MemoryRateLimiter({ now: () => now });
    for (let i = 0; i < 5_000; i++) limiter.take(`old-${i}`, { rate: 10, burst: 10 });
    expect(limiter.size).toBe(5_000);
    now += 1_000;
    for (let i = 0; i < 5_000; i++) limiter.take(`new-${i}`, { rate: 1, burst: 10 });
    expect(limiter.size).toBeLessThan(5_100);
    // Buckets that are not full are still kept.
    expect(limiter.take('new-0', { rate: 1, burst: 10 }).remaining).toBe(8);
    expect(limiter.take('new-4999', { rate: 1, burst: 10 }).remaining).toBe(8);
  });

  it('holds at most its limit of keys, and keeps those that spent most under a flood', () => {
    const limiter = new MemoryRateLimiter({ now: () => 0, maxKeys: 100 });
    const policy = { rate: 0.001, burst: 10 };
    for (let i = 0; i < 10; i++) limiter.take('spent', policy);
    for (let i = 0; i < 20_000; i++) limiter.take(`flood-${i}`, policy);
    expect(limiter.size).toBeLessThanOrEqual(100);
    expect(limiter.take('spent', policy).allowed).toBe(false);
  });
});
