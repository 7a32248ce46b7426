import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../errors/index.js';
import type { RateLimitPolicy, RateLimitResult } from './rate-limiter.js';

export function perMinute(count: number): RateLimitPolicy {
  return { rate: count / 60, burst: count };
}

export function rateLimitHeaders(result: RateLimitResult): Record<string, string> {
  return {
    'RateLimit-Limit': String(result.limit),
    'RateLimit-Remaining': String(result.remaining),
    'RateLimit-Reset': String(result.resetSeconds),
  };
}

/**
 * Delay of a refusal. Without it, a caller that repeats refused requests at once would cost as much as one that is
 * served.
 */
export const HELD_MS = 100;

/** Refuses a request after `HELD_MS`; meanwhile the caller's connection waits. @throws ApiError 429 */
export async function refuse(result: RateLimitResult, reason?: string): Promise<never> {
  await delay(HELD_MS);
  throw rateLimited(result, reason);
}

export function rateLimited(result: RateLimitResult, reason = 'Too many requests'): ApiError {
  const seconds = result.retryAfterSeconds;
  return new ApiError(429, 'rate_limit_error', 'rate_limited', `${reason}; try again in ${seconds} s.`, {
    headers: { ...rateLimitHeaders(result), 'Retry-After': String(seconds) },
  });
}
