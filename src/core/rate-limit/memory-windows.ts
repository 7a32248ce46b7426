import { refusedInWindow, type WindowPolicy, type WindowResult } from './rate-limiter.js';

const LOOKED_AT_PER_TAKE = 2;

interface Window {
  /** When the last member leaves, in milliseconds. */
  emptyAt: number;
  /** Member → when it was counted, in milliseconds; oldest first. */
  readonly members: Map<string, number>;
}

/** Sliding windows of this process only; see `RateLimiter.takeInWindow`. */
export class MemoryWindows {
  /** Windows by key, the least recently counted first. */
  readonly #windows = new Map<string, Window>();

  constructor(private readonly maxKeys: number) {}

  get size(): number {
    return this.#windows.size;
  }

  /** @param now milliseconds that never go back */
  take(key: string, member: string, policy: WindowPolicy, now: number): WindowResult {
    const windowMs = policy.windowSeconds * 1000;
    const window = this.#windows.get(key) ?? { emptyAt: 0, members: new Map<string, number>() };
    for (const [old, at] of window.members) {
      if (at > now - windowMs) break;
      window.members.delete(old);
    }
    if (window.members.has(member)) return { allowed: true, counted: false, retryAfterSeconds: 0 };
    if (window.members.size >= policy.limit) {
      const [oldest = now] = window.members.values();
      return refusedInWindow((oldest + windowMs - now) / 1000);
    }
    window.members.set(member, now);
    window.emptyAt = now + windowMs;
    this.#windows.delete(key);
    this.#makeRoom(now);
    this.#windows.set(key, window);
    return { allowed: true, counted: true, retryAfterSeconds: 0 };
  }

  giveBack(key: string, member: string): void {
    this.#windows.get(key)?.members.delete(member);
  }

  clear(): void {
    this.#windows.clear();
  }

  /**
   * Drops some empty windows at each take, so that no timer is needed; when there are too many windows, drops the
   * oldest.
   */
  #makeRoom(now: number): void {
    let looks = LOOKED_AT_PER_TAKE;
    for (const [key, { emptyAt }] of this.#windows) {
      if (emptyAt > now && this.#windows.size < this.maxKeys) return;
      this.#windows.delete(key);
      if (--looks === 0) return;
    }
  }
}
