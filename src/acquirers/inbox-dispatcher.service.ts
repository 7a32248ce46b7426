import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { Poller } from '../core/queue/index.js';
import { within } from '../core/within.js';
import { ConfirmationService } from './confirmation.service.js';
import { allot, type Line } from './inbox-places.js';
import { InboxRepository, type Notification } from './inbox.repository.js';
import { INBOX_TASK, leasedUntil } from './inbox.service.js';

/**
 * How often to look for hints that are due by their dates or were left by a dead process. All others wake the
 * dispatcher.
 */
const SWEEP_MS = 1_000;
/** How long a shutdown waits for running queries; unfinished ones are due again when their lease ends. */
const SHUTDOWN_MS = 10_000;

/**
 * Has the hints in the inbox confirmed, one dispatcher in each worker process. Claims only as many hints as it has
 * places for: hints wait as rows and never as jobs.
 */
@Injectable()
export class InboxDispatcher implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  /** The line of each hint that is being queried, by id. */
  readonly #lines = new Map<string, Line>();
  readonly #underWay = new Set<Promise<void>>();
  /** Whether the last pass has left hints that are due. */
  #isMore = false;
  #closing = false;

  constructor(
    private readonly database: Database,
    private readonly inbox: InboxRepository,
    private readonly confirmations: ConfirmationService,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.poller.onWorkers(INBOX_TASK, SWEEP_MS, () => this.sweep())) return;
    this.metrics.gauge('recebe_acquirer_inbox_lag_seconds', 'How long the oldest due hint has waited.', async () => {
      const now = this.clock.now();
      return (now.getTime() - ((await this.inbox.oldestDue(now)) ?? now).getTime()) / 1000;
    });
  }

  wake(): void {
    this.poller.wake(INBOX_TASK);
  }

  onModuleDestroy(): void {
    this.#closing = true;
  }

  async onApplicationShutdown(): Promise<void> {
    await within(SHUTDOWN_MS, Promise.all(this.#underWay));
  }

  /** Claims hints that are due, as many as there are free places, and starts to query them. */
  async sweep(): Promise<void> {
    if (this.#closing) return;
    const now = this.clock.now();
    const leases = { disputes: leasedUntil({ kind: 'dispute' }, now), others: leasedUntil({ kind: 'pix' }, now) };
    const { notifications, isMore } = await this.database.transaction(async (tx) => {
      const due = await this.inbox.due(tx, now);
      const roomOf = (line: Line, underWay: number): number => this.confirmations.roomFor(line, underWay);
      const asks = allot(due.lines, [...this.#lines.values()], roomOf);
      return this.inbox.claim(tx, due, asks, [...this.#lines.keys()], leases);
    });
    this.#isMore = isMore;
    for (const notification of notifications) this.#begin(notification);
  }

  #begin(notification: Notification): void {
    const { id, acquirer, isUnconfirmed } = notification;
    this.#lines.set(id, { acquirer, isUnconfirmed });
    const failed = (error: unknown): void =>
      this.logger.error(
        { error, notificationId: id },
        'a notification was not asked about; it comes back by its lease',
      );
    const asked = this.confirmations
      .confirmFound(notification)
      .then(() => undefined, failed)
      .then(() => {
        this.#lines.delete(id);
        this.#underWay.delete(asked);
        if (this.#isMore) this.wake();
      });
    this.#underWay.add(asked);
  }
}
