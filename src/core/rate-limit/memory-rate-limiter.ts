import { MemoryWindows } from './memory-windows.js';
import {
  checkPolicy,
  mostOwedMs,
  RateLimiter,
  toResult,
  type RateLimitPolicy,
  type RateLimitResult,
  type WindowPolicy,
  type WindowResult,
} from './rate-limiter.js';

/** A microsecond: sums of fractions must not refuse the last token of a burst. */
const TOLERANCE_MS = 1e-3;
const LOOKED_AT_PER_INSERT = 2;
const LOOKED_AT_WHEN_CROWDED = 16;

/** Buckets of this process only. */
export class MemoryRateLimiter extends RateLimiter {
  /** Key → milliseconds on the clock at which its bucket is full again. An absent key is a full bucket. */
  private readonly fullAt = new Map<string, number>();
  private readonly now: () => number;
  private readonly maxKeys: number;
  private readonly windows: MemoryWindows;
  private hand: MapIterator<[string, number]> | undefined;

  /**
   * @param options.now milliseconds that never go back; default the process's monotonic clock
   * @param options.maxKeys buckets, and windows, kept at most; default 100 000, about 10 MB of buckets
   */
  constructor(options: { now?: () => number; maxKeys?: number } = {}) {
    super();
    this.now = options.now ?? (() => performance.now());
    this.maxKeys = options.maxKeys ?? 100_000;
    this.windows = new MemoryWindows(this.maxKeys);
  }

  /** How many buckets are kept. */
  get size(): number {
    return this.fullAt.size;
  }

  override take(key: string, policy: RateLimitPolicy, cost = 1): RateLimitResult {
    checkPolicy(policy, cost);
    const now = this.now();
    const capacityMs = (policy.burst / policy.rate) * 1000;
    const known = this.fullAt.get(key);
    // A debt never exceeds the policy's maximum, also after the policy was made smaller.
    const found = known === undefined ? now : Math.min(Math.max(known, now), now + mostOwedMs(policy));
    const after = found + (cost / policy.rate) * 1000;
    if (after - now > capacityMs + TOLERANCE_MS) return toResult(policy, cost, false, (found - now) / 1000);
    if (known === undefined) this.makeRoom(now);
    this.fullAt.set(key, after);
    return toResult(policy, cost, true, (after - now) / 1000);
  }

  override debit(key: string, policy: RateLimitPolicy, cost: number): void {
    const now = this.now();
    const known = this.fullAt.get(key);
    if (known === undefined) this.makeRoom(now);
    const after = Math.max(known ?? now, now) + (cost / policy.rate) * 1000;
    this.fullAt.set(key, Math.min(after, now + mostOwedMs(policy)));
  }

  override takeInWindow(key: string, member: string, policy: WindowPolicy): WindowResult {
    return this.windows.take(key, member, policy, this.now());
  }

  override giveBack(key: string, member: string): void {
    this.windows.giveBack(key, member);
  }

  override async close(): Promise<void> {
    this.fullAt.clear();
    this.windows.clear();
  }

  /**
   * Looks at two old keys for each new one and drops full buckets. The map holds about the keys seen within their
   * refill time, without a timer. In a flood of keys that are not full (one login try from each of a million addresses)
   * it drops the fullest of a few, which forgives the least.
   */
  private makeRoom(now: number): void {
    const crowded = this.fullAt.size >= this.maxKeys;
    const looks = crowded ? LOOKED_AT_WHEN_CROWDED : LOOKED_AT_PER_INSERT;
    let nearestKey: string | undefined;
    let nearestAt = Infinity;
    for (let look = 0; look < looks; look++) {
      const next = this.advance();
      if (next === undefined) break;
      const [key, fullAt] = next;
      if (fullAt <= now) this.fullAt.delete(key);
      else if (fullAt < nearestAt) {
        nearestKey = key;
        nearestAt = fullAt;
      }
    }
    if (this.fullAt.size >= this.maxKeys && nearestKey !== undefined) this.fullAt.delete(nearestKey);
  }

  /** Returns the next entry, starting over at the end; undefined only when there is none. */
  private advance(): [string, number] | undefined {
    if (this.fullAt.size === 0) return undefined;
    this.hand ??= this.fullAt.entries();
    let next = this.hand.next();
    if (next.done === true) {
      this.hand = this.fullAt.entries();
      next = this.hand.next();
    }
    return next.done === true ? undefined : next.value;
  }
}
