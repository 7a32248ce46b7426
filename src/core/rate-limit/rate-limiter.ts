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

/** Limit of `limit` members in any `windowSeconds`. */
export interface WindowPolicy {
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface WindowResult {
  readonly allowed: boolean;
  /** Whether this call counted. A member that was counted before is allowed without counting again. */
  readonly counted: boolean;
  /** Refused: seconds until the oldest member leaves the window, rounded up and at least 1. Allowed: 0. */
  readonly retryAfterSeconds: number;
}

/** Methods of a logger that the limiter uses. */
export type RateLimitLogger = Pick<Logger, 'info' | 'warn'>;

/**
 * Token bucket per key. A refused request takes nothing, so a client that keeps retrying gets in as soon as one that
 * waits.
 *
 * A bucket is stored as one number: the moment at which it is full again (the "theoretical arrival time" of GCRA). The
 * missing tokens are that moment minus now, times the rate. The result equals a token bucket exactly, without a second
 * number or refills.
 *
 * The class is abstract because it is the injection token.
 */
export abstract class RateLimiter {
  /**
   * Takes `cost` tokens (default 1) from the key's bucket, or none when it has fewer. Never rejects. Throws a
   * RangeError, at once, on a policy or cost that could never be satisfied. The in-memory limiter answers without a
   * promise, to save a turn of the event loop:
   *
   *     const taken = limiter.take(key, policy);
   *     const result = taken instanceof Promise ? await taken : taken;
   */
  abstract take(key: string, policy: RateLimitPolicy, cost?: number): RateLimitResult | Promise<RateLimitResult>;

  /**
   * Takes a cost known only afterwards, such as the size of an answer. The bucket may go below zero, by at most one
   * burst or a minute's refill, and must recover first. Never rejects.
   */
  abstract debit(key: string, policy: RateLimitPolicy, cost: number): void;

  /**
   * Counts `member` among those of the key in the last `windowSeconds`, unless there are `limit` already. A token
   * bucket is less exact: one of 30 that refills in a minute lets 59 through in its first minute. Each member costs one
   * stored number, so use it for low limits. Never rejects.
   */
  abstract takeInWindow(key: string, member: string, policy: WindowPolicy): WindowResult | Promise<WindowResult>;

  /** Uncounts a member whose action did not happen. Never rejects; a member that is already gone is no error. */
  abstract giveBack(key: string, member: string): void | Promise<void>;

  abstract close(): Promise<void>;
}

/** Returns the largest debt of a bucket, as milliseconds from now until it is full again. */
export function mostOwedMs({ rate, burst }: RateLimitPolicy): number {
  const capacityMs = (burst / rate) * 1000;
  return capacityMs + Math.max(capacityMs, 60_000);
}

/** Throws a RangeError if a policy would lock every caller out or let every caller through. */
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
 * Returns the figures of an answer.
 *
 * @param secondsToFull until the bucket is full: after taking when allowed, before it when refused
 */
export function toResult(
  policy: RateLimitPolicy,
  cost: number,
  allowed: boolean,
  secondsToFull: number,
): RateLimitResult {
  // A millionth of a token covers the rounding of the division; without it a token that just came back would be missed.
  // The value is below zero after a debit.
  const tokens = policy.burst - secondsToFull * policy.rate;
  return {
    allowed,
    limit: policy.burst,
    remaining: Math.max(0, Math.floor(tokens + 1e-6)),
    resetSeconds: Math.ceil(secondsToFull - 1e-6),
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((cost - tokens) / policy.rate - 1e-6)),
  };
}
