import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { mailboxOf } from '../core/mail/index.js';
import { rateLimited, RateLimiter, type RateLimitPolicy } from '../core/rate-limit/index.js';

const DAY_S = 86_400;
const aDay = (times: number): RateLimitPolicy => ({ rate: times / DAY_S, burst: times });
const INVITATIONS = aDay(50);
const INVITATIONS_OF_MAILBOX = aDay(5);
/** Limit of a mailbox over all accounts. */
const ALL_INVITATIONS_OF_MAILBOX = aDay(20);
const CONTACTS = aDay(10);

/**
 * Limits mails whose receiver the people of an account choose: invitations, and notices to the former contact address.
 */
@Injectable()
export class MailLimits {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly limiter: RateLimiter,
  ) {}

  /**
   * Counts an invitation. If the account's own limit refuses it, the mailbox's limits lose nothing. An account's first
   * invitation to a mailbox skips the limit over all accounts: otherwise strangers could keep a person from being
   * invited.
   * @throws ApiError 429
   */
  async takeInvitation(accountId: string, email: string): Promise<void> {
    const mailbox = mailboxOf(email);
    await this.#take(`invitations:${accountId}`, INVITATIONS);
    const { remaining } = await this.#take(`invitation:${accountId}:${mailbox}`, INVITATIONS_OF_MAILBOX);
    if (remaining < INVITATIONS_OF_MAILBOX.burst - 1) {
      await this.#take(`invitation:${mailbox}`, ALL_INVITATIONS_OF_MAILBOX);
    }
  }

  /** Counts a change of the account's contact address. @throws ApiError 429 */
  async takeContact(accountId: string): Promise<void> {
    await this.#take(`contacts:${accountId}`, CONTACTS);
  }

  async #take(key: string, policy: RateLimitPolicy): Promise<{ remaining: number }> {
    if (!this.config.rateLimit.enabled) return { remaining: policy.burst };
    const taken = await this.limiter.take(key, policy);
    if (!taken.allowed) throw rateLimited(taken);
    return taken;
  }
}
