import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { mailboxOf } from '../core/mail/index.js';
import { rateLimited, RateLimiter } from '../core/rate-limit/index.js';

const DAY_S = 86_400;
/** Invitations a day, whichever account sends them. */
const PER_MAILBOX = { rate: 5 / DAY_S, burst: 5 };
const PER_ACCOUNT = { rate: 50 / DAY_S, burst: 50 };

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
    const account = await this.limiter.take(`invitations:${accountId}`, PER_ACCOUNT);
    if (!account.allowed) throw rateLimited(account);
    const mailbox = await this.limiter.take(`invitation:${mailboxOf(email)}`, PER_MAILBOX);
    if (!mailbox.allowed) throw rateLimited(mailbox);
  }
}
