import { createHmac } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Origin } from '../audit/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { addressBucket, RateLimiter } from '../core/rate-limit/index.js';
import { rateLimited } from './rate-limits.js';

/** The injection token for the key that signs logins. */
export const JWT_SECRET = Symbol('JWT_SECRET');

const WINDOW_SECONDS = 15 * 60;

/** Guessing the password of one e-mail is slow work (docs/contract.md#rate-limits). */
@Injectable()
export class LoginThrottle {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(JWT_SECRET) private readonly secret: string,
    private readonly limiter: RateLimiter,
  ) {}

  /** @throws ApiError 429, also for the right password */
  async take(email: string, origin: Origin): Promise<void> {
    const { enabled, loginPer15Minutes } = this.config.rateLimit;
    if (!enabled) return;
    const key = `login:${this.hash(`${addressBucket(origin.ip ?? '')} ${email}`)}`;
    const policy = { rate: loginPer15Minutes / WINDOW_SECONDS, burst: loginPer15Minutes };
    const result = await this.limiter.take(key, policy);
    if (!result.allowed) throw rateLimited(result);
  }

  /** Stands for a text that neither Redis nor the audit trail should know, and that nobody can guess without the key. */
  hash(text: string): string {
    return createHmac('sha256', this.secret).update(`login:${text}`).digest('hex');
  }
}
