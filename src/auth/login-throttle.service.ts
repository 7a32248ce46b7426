import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import {
  rateLimited,
  RateLimiter,
  type RateLimitPolicy,
  type RateLimitResult,
  takeForAddress,
} from '../core/rate-limit/index.js';

/** The injection token for the key that signs logins. */
export const JWT_SECRET = Symbol('JWT_SECRET');

const WINDOW_SECONDS = 15 * 60;
/** Failed logins with one e-mail, over all addresses, before each further attempt waits. */
const FREE_FAILURES = 30;
const SLOW_MS = 3_000;
/** Tries with one e-mail from all of its devices, as a multiple of those of one device. */
const KNOWN_TIMES = 5;
/** One-time codes tried by one user, over all addresses: of a million codes, three are right. */
const CODES = 10;
const MAILS_AN_HOUR = 3;
/** Name changes of one person: each one is in the audit trail. */
const NAMES = 10;

/** State of an attempt after earlier attempts with the same e-mail. */
export interface Attempt {
  /** Whether this attempt waited because too many had failed. */
  readonly isSlow: boolean;
  /** Uncounts the attempt, which was no failure. */
  forget(): Promise<void>;
}

/** Guessing the password of one e-mail is slow work (docs/contract.md#rate-limits). */
@Injectable()
export class LoginThrottle {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(JWT_SECRET) private readonly secret: string,
    private readonly limiter: RateLimiter,
  ) {}

  /** @param from an address, a device or a user's id @throws ApiError 429, also for the right password */
  async take(email: string, from: string): Promise<void> {
    const burst = this.config.rateLimit.loginPer15Minutes;
    await this.#take(burst, (policy) => takeForAddress(this.limiter, `login:${this.hash(email)}`, from, policy));
  }

  /**
   * Counts an attempt from a device that has logged in before: for the device, and for all such devices of the e-mail,
   * since each login adds one.
   * @returns false when the devices together have used up their tries. Some may belong to an attacker who knew the
   *   password, so the attempt continues as a stranger's.
   * @throws ApiError 429 when the device itself has used up its tries
   */
  async takeKnown(email: string, device: string): Promise<boolean> {
    await this.take(email, device);
    if (!this.config.rateLimit.enabled) return true;
    const burst = this.config.rateLimit.loginPer15Minutes * KNOWN_TIMES;
    const policy = { rate: burst / WINDOW_SECONDS, burst };
    return (await this.limiter.take(`login-known:${this.hash(email)}`, policy)).allowed;
  }

  /**
   * Waits when many logins with this e-mail have failed, from any address: this slows guessing down without a lock.
   * @param isKnown from a device that has logged in before, which failures elsewhere do not slow down
   */
  async attempt(email: string, isKnown: boolean): Promise<Attempt> {
    if (isKnown || !this.config.rateLimit.enabled) return { isSlow: false, forget: () => Promise.resolve() };
    const key = `login-failures:${this.hash(email)}`;
    const member = randomUUID();
    const policy = { limit: FREE_FAILURES, windowSeconds: WINDOW_SECONDS };
    const { allowed } = await this.limiter.takeInWindow(key, member, policy);
    if (!allowed) await wait(SLOW_MS);
    return { isSlow: !allowed, forget: async () => this.limiter.giveBack(key, member) };
  }

  /**
   * @param whose a user's id, with the purpose of the code if it is not a login
   * @throws ApiError 429, also for the right code
   */
  async takeCode(whose: string): Promise<void> {
    await this.#take(CODES, (policy) => this.limiter.take(`totp:${this.hash(whose)}`, policy));
  }

  /**
   * Counts a code of a user who is logged in, before it is compared. Logins are counted apart: a stolen session must not
   * keep its user from logging in.
   * @returns uncounts the code, which was right
   * @throws ApiError 429, also for the right code
   */
  async attemptCode(userId: string): Promise<() => Promise<void>> {
    if (!this.config.rateLimit.enabled) return () => Promise.resolve();
    const key = `totp-session:${this.hash(userId)}`;
    const member = randomUUID();
    const result = await this.limiter.takeInWindow(key, member, { limit: CODES, windowSeconds: WINDOW_SECONDS });
    const { allowed, retryAfterSeconds } = result;
    if (!allowed) {
      throw rateLimited({ allowed, limit: CODES, remaining: 0, resetSeconds: retryAfterSeconds, retryAfterSeconds });
    }
    return async () => this.limiter.giveBack(key, member);
  }

  /** @throws ApiError 429 */
  async takeName(userId: string): Promise<void> {
    await this.#take(NAMES, (policy) => this.limiter.take(`name:${userId}`, policy));
  }

  /** @returns whether one more mail about a forgotten password may go to this e-mail */
  async mayMail(email: string): Promise<boolean> {
    if (!this.config.rateLimit.enabled) return true;
    const policy = { rate: MAILS_AN_HOUR / 3600, burst: MAILS_AN_HOUR };
    return (await this.limiter.take(`forgot:${this.hash(email)}`, policy)).allowed;
  }

  /** Returns a keyed hash in place of a text that must reach neither Redis nor the audit trail. */
  hash(text: string): string {
    return createHmac('sha256', this.secret).update(`login:${text}`).digest('hex');
  }

  async #take(
    burst: number,
    take: (policy: RateLimitPolicy) => RateLimitResult | Promise<RateLimitResult>,
  ): Promise<void> {
    if (!this.config.rateLimit.enabled) return;
    const result = await take({ rate: burst / WINDOW_SECONDS, burst });
    if (!result.allowed) throw rateLimited(result);
  }
}
