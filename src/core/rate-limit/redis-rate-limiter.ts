import type { Redis } from 'ioredis';
import { openRedis } from '../queue/index.js';
import { LATE, within } from '../within.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import {
  checkPolicy,
  RateLimiter,
  refusedInWindow,
  toResult,
  type RateLimitLogger,
  type RateLimitPolicy,
  type RateLimitResult,
  type WindowPolicy,
  type WindowResult,
} from './rate-limiter.js';

const PREFIX = '{recebe}:rl:';
const WINDOW_PREFIX = '{recebe}:win:';
/** Every request waits for this answer, so a slow Redis must not become a slow API. */
const PATIENCE_MS = 50;
/** A window guards money and few requests ask for one: a busy moment of the machine must not make its count wrong. */
const WINDOW_PATIENCE_MS = 500;

/**
 * The bucket of the in-memory limiter in microseconds. The server's clock decides, or processes whose clocks differ
 * would refill one another's buckets. Rounded down, which favours the client by less than a microsecond a request;
 * rounded to nearest, the last token of a burst could be refused. The key lives until the bucket is full: an absent
 * key is a full bucket.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local capacity = tonumber(ARGV[1])
local owed = capacity + math.max(capacity, 60000000)
local found = tonumber(redis.call('GET', KEYS[1]) or now)
if found < now then found = now end
if found > now + owed then found = now + owed end
local after = found + tonumber(ARGV[2])
if ARGV[3] == 'debit' then
  if after > now + owed then after = now + owed end
elseif after - now > capacity + 1 then
  return {0, math.ceil(found - now)}
end
redis.call('SET', KEYS[1], string.format('%.0f', math.floor(after)), 'PX', string.format('%.0f', math.ceil((after - now) / 1000)))
return {1, math.floor(after - now)}
`;

/** A sorted set of members by the microsecond they were counted in, on the server's clock. */
const TAKE_IN_WINDOW = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window = tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - window))
if redis.call('ZSCORE', KEYS[1], ARGV[3]) then return {1, 0, 0} end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  return {0, 0, tonumber(oldest[2]) + window - now}
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[3])
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil(window / 1000)))
return {1, 1, 0}
`;

interface TakeCommand {
  /** @returns whether it was allowed (1 or 0) and the microseconds until the bucket is full */
  takeTokens(key: string, capacityMicros: number, costMicros: number, how: 'take' | 'debit'): Promise<[number, number]>;
  /** @returns whether it was allowed and whether it was counted (1 or 0), and the microseconds until the oldest leaves */
  takeInWindow(key: string, limit: number, windowMicros: number, member: string): Promise<[number, number, number]>;
}

export interface RedisRateLimiterOptions {
  redisUrl: string;
  logger?: RateLimitLogger;
  /** Time limit of every answer; specs raise it, since a busy machine must not change their counts. */
  patienceMs?: number;
}

/**
 * Buckets shared by every process of the service, one round trip per request.
 *
 * While Redis is away each process limits on its own: failing open would remove the limit just when something is
 * wrong, failing closed would take the whole API down with Redis. The price is known: for the time of the outage a
 * caller may get its burst once more and its rate once per process.
 */
export class RedisRateLimiter extends RateLimiter {
  private readonly client: Redis & TakeCommand;
  /** Used while Redis is away. */
  private readonly fallback = new MemoryRateLimiter();
  private readonly logger: RateLimitLogger | undefined;
  private readonly patienceMs: number;
  private readonly windowPatienceMs: number;
  private degraded = false;
  private closed = false;

  constructor(options: RedisRateLimiterOptions) {
    super();
    this.logger = options.logger;
    this.patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.windowPatienceMs = options.patienceMs ?? WINDOW_PATIENCE_MS;
    // A second of silence drops the connection, and while there is none no request waits at all.
    const client = openRedis(options.redisUrl, 1_000, {
      // Nothing is queued or sent twice: by the time Redis is back the requests have long been answered.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      reconnectOnError: (err) => err.message.startsWith('READONLY'),
    });
    client.defineCommand('takeTokens', { numberOfKeys: 1, lua: TAKE });
    client.defineCommand('takeInWindow', { numberOfKeys: 1, lua: TAKE_IN_WINDOW });
    client.on('error', (err) => this.degrade(err)); // without a listener ioredis prints to the console
    client.on('close', () => this.degrade(new Error('connection closed'))); // a clean shutdown of Redis is no error
    this.client = client as Redis & TakeCommand;
  }

  override take(key: string, policy: RateLimitPolicy, cost = 1): RateLimitResult | Promise<RateLimitResult> {
    checkPolicy(policy, cost);
    if (this.client.status !== 'ready') return this.fallback.take(key, policy, cost);
    return this.takeShared(key, policy, cost);
  }

  override debit(key: string, policy: RateLimitPolicy, cost: number): void {
    if (this.client.status !== 'ready') {
      this.fallback.debit(key, policy, cost);
      return;
    }
    const microsPerToken = 1_000_000 / policy.rate;
    const [capacity, micros] = [policy.burst * microsPerToken, cost * microsPerToken];
    bounded(this.patienceMs, this.client.takeTokens(PREFIX + key, capacity, micros, 'debit')).catch((err: unknown) =>
      this.degrade(err),
    );
  }

  override takeInWindow(key: string, member: string, policy: WindowPolicy): WindowResult | Promise<WindowResult> {
    if (this.client.status !== 'ready') return this.fallback.takeInWindow(key, member, policy);
    return this.takeInSharedWindow(key, member, policy);
  }

  override async giveBack(key: string, member: string): Promise<void> {
    this.fallback.giveBack(key, member);
    if (this.client.status !== 'ready') return;
    // Unheard it stays counted until it leaves the window.
    await bounded(this.windowPatienceMs, this.client.zrem(WINDOW_PREFIX + key, member)).catch((err: unknown) =>
      this.degrade(err),
    );
  }

  override async close(): Promise<void> {
    this.closed = true;
    this.client.disconnect();
    await this.fallback.close();
  }

  private async takeShared(key: string, policy: RateLimitPolicy, cost: number): Promise<RateLimitResult> {
    try {
      const microsPerToken = 1_000_000 / policy.rate;
      const [allowed, micros] = await bounded(
        this.patienceMs,
        this.client.takeTokens(PREFIX + key, policy.burst * microsPerToken, cost * microsPerToken, 'take'),
      );
      this.recover();
      return toResult(policy, cost, allowed === 1, micros / 1_000_000);
    } catch (err) {
      this.degrade(err);
      return this.fallback.take(key, policy, cost);
    }
  }

  private async takeInSharedWindow(key: string, member: string, policy: WindowPolicy): Promise<WindowResult> {
    try {
      const { limit, windowSeconds } = policy;
      const [allowed, counted, micros] = await bounded(
        this.windowPatienceMs,
        this.client.takeInWindow(WINDOW_PREFIX + key, limit, windowSeconds * 1_000_000, member),
      );
      this.recover();
      if (allowed !== 1) return refusedInWindow(micros / 1_000_000);
      return { allowed: true, counted: counted === 1, retryAfterSeconds: 0 };
    } catch (err) {
      this.degrade(err);
      return this.fallback.takeInWindow(key, member, policy);
    }
  }

  /** Logged when it begins and when it ends, not on each of thousands of requests between. */
  private degrade(err: unknown): void {
    if (this.degraded || this.closed) return;
    this.degraded = true;
    // The message alone: an error of ioredis also carries its command, and that of AUTH has the password in it.
    const reason = err instanceof Error ? err.message : undefined;
    this.logger?.warn({ reason }, 'rate limits are per process: Redis does not answer');
  }

  private recover(): void {
    if (!this.degraded) return;
    this.degraded = false;
    this.logger?.info({}, 'rate limits are shared again');
  }
}

async function bounded<T>(patienceMs: number, answer: Promise<T>): Promise<T> {
  const value = await within(patienceMs, answer);
  if (value === LATE) throw new Error(`no answer within ${patienceMs} ms`);
  return value;
}
