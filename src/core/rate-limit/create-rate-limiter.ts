import { MemoryRateLimiter } from './memory-rate-limiter.js';
import type { RateLimiter, RateLimitLogger } from './rate-limiter.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';

/** Limits shared through Redis when `redisUrl` is given, otherwise of this process alone. Does not wait for Redis. */
export function createRateLimiter(options: { redisUrl: string | undefined; logger?: RateLimitLogger }): RateLimiter {
  const { redisUrl, ...rest } = options;
  return redisUrl === undefined ? new MemoryRateLimiter() : new RedisRateLimiter({ redisUrl, ...rest });
}
