import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { RateLimiter } from '../core/rate-limit/index.js';
import type { Notification } from './inbox.repository.js';

/** Limit of queries about unconfirmed reports, for each acquirer: running ones and ones without a confirmation. */
const QUESTIONS = { limit: 120, windowSeconds: 60 };
/** How many reports of one acquirer a process queries at once: at first, and after many that were true. */
const PLACES = { first: 2, most: 6 };

/**
 * Limits queries about reports of callbacks: anybody who knows the address may have made them up. Forged callbacks must
 * neither flood the acquirer nor hold up others. If a true report of a fresh Pix has to wait, the acquirer's list
 * confirms it within a minute. Late Pix and disputes are in the list once a day only: until then their reports wait for
 * their own query.
 */
@Injectable()
export class UnconfirmedReports {
  /** Places of acquirers whose last report was true. */
  readonly #places = new Map<string, number>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly limiter: RateLimiter,
  ) {}

  /** How many reports of the acquirer this process queries at once. */
  placesOf(acquirer: string): number {
    return this.#places.get(acquirer) ?? PLACES.first;
  }

  /** Counts the query. Each repetition counts. */
  async mayAsk(notification: Notification): Promise<boolean> {
    if (!this.config.rateLimit.enabled || !notification.isUnconfirmed) return true;
    const { key, member } = counted(notification);
    return (await this.limiter.takeInWindow(key, member, QUESTIONS)).allowed;
  }

  /** Stops counting the query of a report that the acquirer has confirmed. */
  async wasTrue(notification: Notification): Promise<void> {
    if (!notification.isUnconfirmed) return;
    this.#places.set(notification.acquirer, Math.min(this.placesOf(notification.acquirer) + 1, PLACES.most));
    if (!this.config.rateLimit.enabled) return;
    const { key, member } = counted(notification);
    await this.limiter.giveBack(key, member);
  }

  /** Resets the places of an acquirer that does not know a report. */
  wasNotConfirmed({ isUnconfirmed, acquirer }: Notification): void {
    if (isUnconfirmed) this.#places.delete(acquirer);
  }
}

function counted({ id, acquirer, attempts }: Notification): { key: string; member: string } {
  return { key: `unconfirmed:${acquirer}`, member: `${id}:${attempts}` };
}
