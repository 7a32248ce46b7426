import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { RateLimiter } from '../core/rate-limit/index.js';
import type { Notification } from './inbox.repository.js';

/** Questions about unconfirmed reports, for each acquirer: those under way, and those that brought no confirmation. */
const QUESTIONS = { limit: 120, windowSeconds: 60 };
/** How many reports of one acquirer a process asks about at once: at first, and after many that were true. */
const PLACES = { first: 2, most: 6 };

/**
 * Reports that only a callback has told: whoever knows the address may have made them up. Limits the questions about
 * them, so that forged callbacks neither pester the acquirer nor hold up others. A fresh Pix that was reported truly and
 * has to wait is in the acquirer's list within a minute, and is confirmed then. The list shows late Pix and disputes once
 * a day only: a true report of one waits for its own question until then.
 */
@Injectable()
export class UnconfirmedReports {
  /** Acquirers whose last report was true have an entry. */
  readonly #places = new Map<string, number>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly limiter: RateLimiter,
  ) {}

  /** How many reports of the acquirer this process asks about at once. */
  placesOf(acquirer: string): number {
    return this.#places.get(acquirer) ?? PLACES.first;
  }

  /** Counts the question. Each repetition counts. */
  async mayAsk(notification: Notification): Promise<boolean> {
    if (!this.config.rateLimit.enabled || !notification.isUnconfirmed) return true;
    const { key, member } = counted(notification);
    return (await this.limiter.takeInWindow(key, member, QUESTIONS)).allowed;
  }

  /** The acquirer has confirmed it: its question no longer counts. */
  async wasTrue(notification: Notification): Promise<void> {
    if (!notification.isUnconfirmed) return;
    this.#places.set(notification.acquirer, Math.min(this.placesOf(notification.acquirer) + 1, PLACES.most));
    if (!this.config.rateLimit.enabled) return;
    const { key, member } = counted(notification);
    await this.limiter.giveBack(key, member);
  }

  /** The acquirer does not know it. */
  wasNotConfirmed({ isUnconfirmed, acquirer }: Notification): void {
    if (isUnconfirmed) this.#places.delete(acquirer);
  }
}

function counted({ id, acquirer, attempts }: Notification): { key: string; member: string } {
  return { key: `unconfirmed:${acquirer}`, member: `${id}:${attempts}` };
}
