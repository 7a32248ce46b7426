import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { RateLimiter } from '../core/rate-limit/index.js';
import type { Notification } from './inbox.repository.js';

/** Questions about what only callbacks tell, for each acquirer: those that are under way, and those that were in vain. */
const UNCONFIRMED = { limit: 120, windowSeconds: 60 };

/**
 * Of hearsay so many are asked about in a minute as are not confirmed by then, and each time it is asked again counts:
 * who has learnt the address of the callbacks cannot make us pester the acquirer. What is put off and true is found in
 * the acquirer's list before, and is no hearsay then.
 */
@Injectable()
export class HearsayLimit {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly limiter: RateLimiter,
  ) {}

  async mayAsk(notification: Notification): Promise<boolean> {
    if (!this.config.rateLimit.enabled || !notification.isHearsay) return true;
    const { key, member } = unconfirmed(notification);
    return (await this.limiter.takeInWindow(key, member, UNCONFIRMED)).allowed;
  }

  /** What was confirmed does not count. */
  async wasTrue(notification: Notification): Promise<void> {
    if (!this.config.rateLimit.enabled || !notification.isHearsay) return;
    const { key, member } = unconfirmed(notification);
    await this.limiter.giveBack(key, member);
  }
}

function unconfirmed({ id, acquirer, attempts }: Notification): { key: string; member: string } {
  return { key: `hearsay:${acquirer}`, member: `${id}:${attempts}` };
}
