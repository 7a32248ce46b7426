import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { mailboxOf } from '../core/mail/index.js';
import { rateLimited, RateLimiter, type RateLimitPolicy } from '../core/rate-limit/index.js';

const DAY_S = 86_400;
const aDay = (times: number): RateLimitPolicy => ({ rate: times / DAY_S, burst: times });
const INVITATIONS = aDay(50);
const INVITATIONS_OF_MAILBOX = aDay(5);
/** Whichever accounts send them. */
const ALL_INVITATIONS_OF_MAILBOX = aDay(20);
const CONTACTS = aDay(10);

/** The people of an account choose where its mails go: to whom they invite, and to the address that was its contact. */
@Injectable()
export class MailLimits {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly limiter: RateLimiter,
  ) {}

  /**
   * What is beyond the account's own limit counts for no mailbox, and its first to a mailbox goes however many others have sent:
   * nobody keeps a person from being invited.
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

  /** Another address of the account. @throws ApiError 429 */
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
