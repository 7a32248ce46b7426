import { ApiError } from '../core/errors/index.js';
import type { RateLimitPolicy, RateLimitResult } from '../core/rate-limit/index.js';

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

export function rateLimited(result: RateLimitResult): ApiError {
  const seconds = result.retryAfterSeconds;
  return new ApiError(429, 'rate_limit_error', 'rate_limited', `Too many requests; try again in ${seconds} s.`, {
    headers: { ...rateLimitHeaders(result), 'Retry-After': String(seconds) },
  });
}
