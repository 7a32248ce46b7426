import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { mailboxOf } from '../core/mail/index.js';
import { rateLimited, RateLimiter, type RateLimitPolicy } from '../core/rate-limit/index.js';

const DAY_S = 86_400;
const aDay = (invitations: number): RateLimitPolicy => ({ rate: invitations / DAY_S, burst: invitations });
const PER_ACCOUNT = aDay(50);
const PER_MAILBOX_OF_ACCOUNT = aDay(5);
/** Whichever accounts send them. */
const PER_MAILBOX = aDay(20);

/** Inviters choose where the mail goes, so invitations are limited by account and by mailbox. */
@Injectable()
export class InvitationLimits {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly limiter: RateLimiter,
  ) {}

  /** @throws ApiError 429 */
  async take(accountId: string, email: string): Promise<void> {
    if (!this.config.rateLimit.enabled) return;
    const mailbox = mailboxOf(email);
    for (const [key, policy] of [
      [`invitation:${accountId}:${mailbox}`, PER_MAILBOX_OF_ACCOUNT],
      [`invitation:${mailbox}`, PER_MAILBOX],
      [`invitations:${accountId}`, PER_ACCOUNT],
    ] as const) {
      const taken = await this.limiter.take(key, policy);
      if (!taken.allowed) throw rateLimited(taken);
    }
  }
}
