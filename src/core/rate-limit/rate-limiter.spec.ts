import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { describeWith } from '../../../test/support/needs.js';
import { startRedis, type TestRedis } from '../../../test/support/redis.js';
import { waitFor } from '../../../test/support/wait.js';
import { createRateLimiter, MemoryRateLimiter, type RateLimiter, type RateLimitPolicy } from './index.js';
import type { RateLimitResult, WindowResult } from './index.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';

interface Subject {
  readonly limiter: RateLimiter;
  /** Advances the limiter's time: an injected clock in memory, the times in the keys on Redis. */
  readonly pass: (seconds: number) => Promise<unknown>;
}

/** Real time that may pass on Redis during a spec */
const SLACK_SECONDS = 30;

/** Suite that both limiters must pass. Rates are low, so that no token comes back while a spec runs. */
function contract(create: () => Promise<Subject>, slackSeconds: number): void {
  let limiter: RateLimiter;
  let pass: Subject['pass'];

  beforeEach(async () => {
    ({ limiter, pass } = await create());
  });

  /** Matches seconds that are left, less the time that has passed since. */
  const left = (seconds: number): number =>
    ({
      asymmetricMatch: (actual: number) => actual <= seconds && actual >= seconds - slackSeconds,
      toString: () => `${seconds} s less ${slackSeconds} s at most`,
    }) as unknown as number;

  afterEach(async () => {
    await limiter.close();
  });

  const slow: RateLimitPolicy = { rate: 10 / 900, burst: 10 }; // 10 in 15 minutes
  const takeMany = async (key: string, policy: RateLimitPolicy, times: number): Promise<RateLimitResult[]> => {
    const results: RateLimitResult[] = [];
    for (let i = 0; i < times; i++) results.push(await limiter.take(key, policy));
    return results;
  };

  it('gives the whole burst and then refuses, with exact figures', async () => {
    const results = await takeMany('login', slow, 12);
    expect(results.map(({ allowed }) => allowed)).toEqual([...Array<boolean>(10).fill(true), false, false]);
    expect(results.map(({ remaining }) => remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]);
    expect(results[0]).toEqual({
      allowed: true,
      limit: 10,
      remaining: 9,
      resetSeconds: left(90),
      retryAfterSeconds: 0,
    });
    expect(results[10]).toEqual({
      allowed: false,
      limit: 10,
      remaining: 0,
      resetSeconds: left(900),
      retryAfterSeconds: left(90),
    });
    // Being refused costs nothing: the second refusal has no longer to wait than the first.
    expect(results[11]?.retryAfterSeconds).toEqual(left(90));
  });

  it('allows the last token of a burst at any fractional rate', async () => {
    for (const rate of [1.5, 3, 7, 0.3, 1 / 3, 11 / 13]) {
      const results = await takeMany(`fraction-${rate}`, { rate: rate / 100, burst: 30 }, 31);
      expect(results.filter(({ allowed }) => allowed)).toHaveLength(30);
      expect(results[29]?.allowed).toBe(true);
    }
  });

  it('keeps one key from spending the tokens of another', async () => {
    await takeMany('a', slow, 10);
    expect(await limiter.take('a', slow)).toMatchObject({ allowed: false });
    expect(await limiter.take('b', slow)).toMatchObject({ allowed: true, remaining: 9 });
  });

  it('debits a cost known afterwards, also below zero, up to one burst', async () => {
    await limiter.take('debit', slow, 4);
    limiter.debit('debit', slow, 8);
    await waitFor('the debit', async () => !(await limiter.take('debit', slow)).allowed);
    // Two are missing, and the one that is asked for.
    expect(await limiter.take('debit', slow)).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfterSeconds: left(270),
    });
    limiter.debit('debit', slow, 1_000_000);
    await waitFor('the second', async () => (await limiter.take('debit', slow)).retryAfterSeconds > 270);
    expect((await limiter.take('debit', slow)).retryAfterSeconds).toEqual(left(990));
    expect(await limiter.take('another', slow)).toMatchObject({ allowed: true, remaining: 9 });
  });

  it('takes the whole cost of a request, or nothing', async () => {
    expect(await limiter.take('cost', slow, 7)).toMatchObject({ allowed: true, remaining: 3 });
    expect(await limiter.take('cost', slow, 5)).toEqual({
      allowed: false,
      limit: 10,
      remaining: 3,
      resetSeconds: left(630),
      retryAfterSeconds: left(180),
    });
    expect(await limiter.take('cost', slow, 3)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('refills with time, no faster than the rate and never above the burst', async () => {
    const policy = { rate: 0.005, burst: 2 }; // a token each 200 s
    expect((await takeMany('refill', policy, 2)).map(({ allowed }) => allowed)).toEqual([true, true]);
    expect(await limiter.take('refill', policy)).toMatchObject({
      allowed: false,
      retryAfterSeconds: left(200),
      resetSeconds: left(400),
    });
    await pass(230);
    expect(await limiter.take('refill', policy)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.take('refill', policy)).toMatchObject({ allowed: false });
    await pass(1_000);
    const refilled = await takeMany('refill', policy, 3);
    expect(refilled.map(({ allowed }) => allowed)).toEqual([true, true, false]);
  });

  it('applies a changed policy to a known key, at most as far as a debit may go', async () => {
    await takeMany('changed', slow, 10);
    expect(await limiter.take('changed', { rate: slow.rate, burst: 2 })).toMatchObject({
      allowed: false,
      limit: 2,
      remaining: 0,
      resetSeconds: left(360),
      retryAfterSeconds: left(270),
    });
  });

  it('allows no more than the burst under concurrency', async () => {
    const policy = { rate: 0.01, burst: 50 };
    const results = await Promise.all(Array.from({ length: 200 }, async () => limiter.take('race', policy)));
    expect(results.filter(({ allowed }) => allowed)).toHaveLength(50);
  });

  it('takes keys of any characters', async () => {
    const key = 'login:203.0.113.7:maria@exemplo.com.br {x} \n ção';
    expect(await limiter.take(key, slow)).toMatchObject({ allowed: true, remaining: 9 });
    expect(await limiter.take(key, slow)).toMatchObject({ allowed: true, remaining: 8 });
  });

  describe('in a window', () => {
    const window = { limit: 3, windowSeconds: 60 };
    const counted: WindowResult = { allowed: true, counted: true, retryAfterSeconds: 0 };
    const known: WindowResult = { allowed: true, counted: false, retryAfterSeconds: 0 };
    const refused: WindowResult = { allowed: false, counted: false, retryAfterSeconds: left(60) };

    it('lets exactly the limit in, and says how long to wait', async () => {
      for (const member of ['a', 'b', 'c']) expect(await limiter.takeInWindow('key', member, window)).toEqual(counted);
      expect(await limiter.takeInWindow('key', 'd', window)).toEqual(refused);
      expect(await limiter.takeInWindow('key', 'e', window)).toEqual(refused);
      expect(await limiter.takeInWindow('other', 'd', window)).toEqual(counted);
    });

    it('counts a member once, and recognizes it even when the window is full', async () => {
      expect(await limiter.takeInWindow('twice', 'a', window)).toEqual(counted);
      expect(await limiter.takeInWindow('twice', 'a', window)).toEqual(known);
      await limiter.takeInWindow('twice', 'b', window);
      await limiter.takeInWindow('twice', 'c', window);
      expect(await limiter.takeInWindow('twice', 'd', window)).toEqual(refused);
      expect(await limiter.takeInWindow('twice', 'a', window)).toEqual(known);
    });

    it('removes only the member that is given back', async () => {
      for (const member of ['a', 'b', 'c']) await limiter.takeInWindow('back', member, window);
      await limiter.giveBack('back', 'nobody');
      await limiter.giveBack('nothing', 'a');
      expect(await limiter.takeInWindow('back', 'd', window)).toEqual(refused);
      await limiter.giveBack('back', 'b');
      expect(await limiter.takeInWindow('back', 'd', window)).toEqual(counted);
      expect(await limiter.takeInWindow('back', 'e', window)).toEqual(refused);
    });

    it('slides: each member leaves one window after it came, and no minute has more than the limit', async () => {
      const short = { limit: 2, windowSeconds: 400 };
      await limiter.takeInWindow('slide', 'a', short);
      await pass(250);
      await limiter.takeInWindow('slide', 'b', short);
      expect(await limiter.takeInWindow('slide', 'c', short)).toMatchObject({
        allowed: false,
        retryAfterSeconds: left(150),
      });
      await pass(200);
      expect(await limiter.takeInWindow('slide', 'c', short)).toEqual(counted);
      expect(await limiter.takeInWindow('slide', 'd', short)).toMatchObject({ allowed: false });
    });

    it('applies a changed limit to a known key', async () => {
      for (const member of ['a', 'b', 'c']) await limiter.takeInWindow('changed', member, window);
      expect(await limiter.takeInWindow('changed', 'd', { ...window, limit: 2 })).toEqual(refused);
      expect(await limiter.takeInWindow('changed', 'd', { ...window, limit: 4 })).toEqual(counted);
    });

    it('lets exactly the limit in under concurrency', async () => {
      const policy = { limit: 50, windowSeconds: 60 };
      const results = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => limiter.takeInWindow('race', `m${String(index)}`, policy)),
      );
      expect(results.filter(({ allowed }) => allowed)).toHaveLength(50);
    });
  });

  it('throws on a policy that could never allow or never refuse', () => {
    const impossible: [RateLimitPolicy, number][] = [
      [{ rate: 0, burst: 1 }, 1],
      [{ rate: Number.NaN, burst: 1 }, 1],
      [{ rate: Infinity, burst: 1 }, 1],
      [{ rate: 1, burst: 0 }, 1],
      [{ rate: 1, burst: 5 }, 6],
      [{ rate: 1, burst: 5 }, 0],
      [{ rate: 1, burst: 5 }, -1],
    ];
    for (const [policy, cost] of impossible) expect(() => limiter.take('bad', policy, cost)).toThrow(RangeError);
  });
}

describe('RateLimiter in memory', () => {
  contract(async () => {
    let now = 5_000;
    return {
      limiter: new MemoryRateLimiter({ now: () => now }),
      pass: async (seconds) => void (now += seconds * 1_000),
    };
  }, 0);

  it('answers synchronously, without a promise', async () => {
    const limiter = createRateLimiter({ redisUrl: undefined });
    expect(limiter.take('key', { rate: 1, burst: 1 })).toMatchObject({ allowed: true });
    await limiter.close();
  });
});

/** Moves the times in all keys back, which is as if the server's clock had gone on. */
const MOVE_BACK = [
  "for _, key in ipairs(redis.call('KEYS', '{recebe}:*')) do",
  "if redis.call('TYPE', key).ok == 'zset' then",
  "for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do redis.call('ZINCRBY', key, '-' .. ARGV[1], member) end",
  "else redis.call('SET', key, string.format('%.0f', redis.call('GET', key) - ARGV[1]), 'KEEPTTL') end",
  'end',
].join(' ');

describeWith('redis')('RateLimiter on Redis', () => {
  let redis: TestRedis;

  beforeAll(async () => {
    redis = await startRedis();
  });

  afterAll(async () => {
    await redis.stop();
  });

  contract(async () => {
    await redis.flush();
    const limiter = new RedisRateLimiter({ redisUrl: redis.url, patienceMs: 30_000 });
    // Requests before the connection are answered by the fallback, so wait until one is answered by Redis.
    await waitFor('Redis to answer', async () => {
      await limiter.take('warm-up', { rate: 1_000, burst: 1_000 });
      return (await redis.command('EXISTS', '{recebe}:rl:warm-up')) === ':1';
    });
    const pass = (seconds: number): Promise<string> =>
      redis.command('EVAL', `"${MOVE_BACK}"`, '0', String(seconds * 1_000_000));
    return { limiter, pass };
  }, SLACK_SECONDS);
});
