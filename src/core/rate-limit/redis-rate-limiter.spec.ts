import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { describeWith } from '../../../test/support/needs.js';
import { startRedis, type TestRedis } from '../../../test/support/redis.js';
import { waitFor } from '../../../test/support/wait.js';
import { LATE, within } from '../within.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';

const policy = { rate: 0.01, burst: 5 };
const plenty = { rate: 1_000, burst: 1_000_000 };

describeWith('redis')('RedisRateLimiter', () => {
  let redis: TestRedis;
  let limiters: RedisRateLimiter[];
  let lines: string[];

  const open = (): RedisRateLimiter => {
    const log = (_fields: object, message: string): void => void lines.push(message);
    const limiter = new RedisRateLimiter({ redisUrl: redis.url, logger: { info: log, warn: log } });
    limiters.push(limiter);
    return limiter;
  };

  /** Only an answer from Redis is a promise that leaves a key behind. */
  const shared = (limiter: RedisRateLimiter): Promise<true> =>
    waitFor('limits to be shared', async () => {
      await redis.command('DEL', '{recebe}:rl:probe');
      await limiter.take('probe', plenty);
      return (await redis.command('EXISTS', '{recebe}:rl:probe')) === ':1';
    });

  const sharing = async (): Promise<RedisRateLimiter> => {
    const limiter = open();
    await shared(limiter);
    return limiter;
  };

  /** As soon as the loss is noticed the answer comes without a promise. */
  const lossNoticed = (limiter: RedisRateLimiter): Promise<true> =>
    waitFor('the loss to be noticed', () => !(limiter.take('probe', plenty) instanceof Promise));

  /** Whether each of six is allowed, all of them without a promise. */
  const sixAllowed = (limiter: RedisRateLimiter, key: string): boolean[] => {
    const results = Array.from({ length: 6 }, () => limiter.take(key, policy));
    return results.map((result) => !(result instanceof Promise) && result.allowed);
  };
  const FIVE_OF_SIX = [true, true, true, true, true, false];

  beforeAll(async () => {
    redis = await startRedis();
  });

  beforeEach(() => {
    limiters = [];
    lines = [];
  });

  afterEach(async () => {
    for (const limiter of limiters) await limiter.close();
    await redis.kill();
    await redis.start();
  });

  afterAll(async () => {
    await redis.stop();
  });

  it('shares a bucket between processes', async () => {
    const [one, two] = [await sharing(), await sharing()];
    for (let i = 0; i < 3; i++) await one.take('key', policy);
    expect(await two.take('key', policy)).toMatchObject({ allowed: true, remaining: 1 });
    expect(await one.take('key', policy)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await two.take('key', policy)).toMatchObject({ allowed: false });
  });

  it('shares a window between processes, and leaves its key no longer than the window', async () => {
    const [one, two] = [await sharing(), await sharing()];
    const window = { limit: 3, windowSeconds: 600 };
    await one.takeInWindow('key', 'a', window);
    await two.takeInWindow('key', 'b', window);
    await one.takeInWindow('key', 'c', window);
    expect(await two.takeInWindow('key', 'd', window)).toMatchObject({ allowed: false });
    expect(await two.takeInWindow('key', 'a', window)).toMatchObject({ allowed: true, counted: false });
    await two.giveBack('key', 'c');
    expect(await two.takeInWindow('key', 'd', window)).toMatchObject({ allowed: true, counted: true });
    const left = Number((await redis.command('PTTL', '{recebe}:win:key')).slice(1));
    expect(left).toBeGreaterThan(500_000);
    expect(left).toBeLessThanOrEqual(600_000);
  });

  it('counts windows per process while Redis is dead', async () => {
    const limiter = await sharing();
    await redis.kill();
    await lossNoticed(limiter);
    const window = { limit: 1, windowSeconds: 60 };
    expect(limiter.takeInWindow('dead', 'a', window)).toMatchObject({ allowed: true, counted: true });
    expect(limiter.takeInWindow('dead', 'b', window)).toMatchObject({ allowed: false });
    await limiter.giveBack('dead', 'a');
    expect(limiter.takeInWindow('dead', 'b', window)).toMatchObject({ allowed: true });
  });

  it('leaves a key in Redis no longer than its bucket needs to fill', async () => {
    const limiter = await sharing();
    await limiter.take('ttl', { rate: 0.005, burst: 10 }, 4); // 800 s to full
    const left = Number((await redis.command('PTTL', '{recebe}:rl:ttl')).slice(1));
    expect(left).toBeGreaterThan(700_000);
    expect(left).toBeLessThanOrEqual(800_000);
  });

  it('goes on limiting per process while Redis is dead, without waiting, and shares again when it is back', async () => {
    const limiter = await sharing();
    await redis.kill();
    await lossNoticed(limiter);
    expect(sixAllowed(limiter, 'dead')).toEqual(FIVE_OF_SIX);
    await redis.start();
    await shared(limiter);
    expect(lines).toEqual(['rate limits are per process: Redis does not answer', 'rate limits are shared again']);
  });

  it('answers a request that was under way when Redis died', async () => {
    const limiter = await sharing();
    redis.freeze();
    const pending = Array.from({ length: 20 }, async () => limiter.take('dying', plenty));
    await redis.kill();
    const results = await Promise.all(pending);
    expect(results.every(({ allowed }) => allowed)).toBe(true);
  });

  it('makes no request wait long for a Redis that does not answer, and soon none at all', async () => {
    const limiter = await sharing();
    redis.freeze();
    try {
      // Timers of one process end in their order, however slow it is.
      const taken = Promise.resolve(limiter.take('frozen', policy));
      expect(await within(40, taken)).toBe(LATE);
      expect(await within(200, taken)).toMatchObject({ allowed: true, remaining: 4 });
      await waitFor('the connection to be given up', async () => {
        const probe = limiter.take('probe', plenty);
        await probe;
        return !(probe instanceof Promise);
      });
    } finally {
      redis.thaw();
    }
    await shared(limiter);
  });

  it('keeps working when the server forgets its scripts and its data', async () => {
    const limiter = await sharing();
    for (let i = 0; i < 5; i++) await limiter.take('forgotten', policy);
    expect(await limiter.take('forgotten', policy)).toMatchObject({ allowed: false });
    await redis.command('SCRIPT', 'FLUSH');
    expect(await limiter.take('forgotten', policy)).toMatchObject({ allowed: false });
    await redis.flush();
    expect(await limiter.take('forgotten', policy)).toMatchObject({ allowed: true, remaining: 4 });
    expect(lines).toEqual([]);
  });

  it('limits from the first request on, before it is connected', async () => {
    expect(sixAllowed(open(), 'early')).toEqual(FIVE_OF_SIX);
  });
});
