import type { Logger } from '../log/index.js';

export interface RateLimitPolicy {
  /** Tokens that come back per second; may be a fraction (10 per 15 minutes is 10 / 900). */
  rate: number;
  /** The most tokens a key can have: what it may spend at once after being idle. At least 1. */
  burst: number;
}

export interface RateLimitResult {
  allowed: boolean;
  /** The policy's burst, for `RateLimit-Limit`. */
  limit: number;
  /** Whole tokens left, for `RateLimit-Remaining`. */
  remaining: number;
  /** Seconds until all tokens are back, rounded up, for `RateLimit-Reset`. */
  resetSeconds: number;
  /** Refused: seconds until the same request would be allowed, rounded up and at least 1. Allowed: 0. */
  retryAfterSeconds: number;
}

/** At most `limit` in any `windowSeconds`. */
export interface WindowPolicy {
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface WindowResult {
  readonly allowed: boolean;
  /** Whether this call counted; one that was counted before under the same member is allowed without counting again. */
  readonly counted: boolean;
  /** Refused: seconds until the oldest one leaves the window, rounded up and at least 1. Allowed: 0. */
  readonly retryAfterSeconds: number;
}

/** What the limiter needs of a logger. */
export type RateLimitLogger = Pick<Logger, 'info' | 'warn'>;

/**
 * Token bucket per key. A refused request takes nothing, so a client that keeps knocking is let in again as soon as
 * one that waits.
 *
 * A bucket is kept as one number, the moment at which it will be full again (the "theoretical arrival time" of GCRA):
 * the missing tokens are that moment minus now, times the rate. That is the token bucket exactly, without a second
 * number and without refilling anything.
 *
 * An abstract class because it is the injection token.
 */
export abstract class RateLimiter {
  /**
   * Takes `cost` tokens (default 1) from the key's bucket, or none when it has fewer. Never rejects. The in-memory
   * limiter answers without a promise, so that the request path need not wait a turn:
   *
   *     const taken = limiter.take(key, policy);
   *     const result = taken instanceof Promise ? await taken : taken;
   *
   * Throws a RangeError, at once, on a policy or cost that could never be satisfied.
   */
  abstract take(key: string, policy: RateLimitPolicy, cost?: number): RateLimitResult | Promise<RateLimitResult>;

  /**
   * Takes what is known only afterwards, as of the size of an answer: also tokens that the bucket does not have, which
   * it then has to get back first, up to one burst or what comes back in a minute. Never rejects.
   */
  abstract debit(key: string, policy: RateLimitPolicy, cost: number): void;

  /**
   * Counts `member` among those of the key in the last `windowSeconds`, unless there are `limit` already. Exact where a
   * bucket is not: one of 30 that refills in a minute lets 59 through in its first minute. Costs a number for each
   * member, so it is for limits that are low. Never rejects.
   */
  abstract takeInWindow(key: string, member: string, policy: WindowPolicy): WindowResult | Promise<WindowResult>;

  /** Uncounts a member: what it stood for did not happen. Never rejects; what is not known any more is no error. */
  abstract giveBack(key: string, member: string): void | Promise<void>;

  abstract close(): Promise<void>;
}

/** How much a bucket may owe, as the time, in milliseconds from now, by which it is full again at the latest. */
export function mostOwedMs({ rate, burst }: RateLimitPolicy): number {
  const capacityMs = (burst / rate) * 1000;
  return capacityMs + Math.max(capacityMs, 60_000);
}

/** Throws a RangeError on what would lock every caller out for ever or let every caller through. */
export function checkPolicy(policy: RateLimitPolicy, cost: number): void {
  const { rate, burst } = policy;
  if (!(rate > 0 && rate < Infinity && burst >= 1 && burst < Infinity && cost > 0 && cost <= burst)) {
    throw new RangeError(`Impossible rate limit: rate ${rate}, burst ${burst}, cost ${cost}`);
  }
}

export function refusedInWindow(secondsLeft: number): WindowResult {
  return { allowed: false, counted: false, retryAfterSeconds: Math.max(1, Math.ceil(secondsLeft - 1e-6)) };
}

/**
 * The figures of an answer.
 *
 * @param secondsToFull until the bucket is full: after taking when allowed, as found when refused
 */
export function toResult(
  policy: RateLimitPolicy,
  cost: number,
  allowed: boolean,
  secondsToFull: number,
): RateLimitResult {
  // A millionth of a token covers the rounding of the division; without it a just refilled token would not be seen.
  // Below zero after a debit.
  const tokens = policy.burst - secondsToFull * policy.rate;
  return {
    allowed,
    limit: policy.burst,
    remaining: Math.max(0, Math.floor(tokens + 1e-6)),
    resetSeconds: Math.ceil(secondsToFull - 1e-6),
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((cost - tokens) / policy.rate - 1e-6)),
  };
}
