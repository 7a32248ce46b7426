import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import { isAway } from '../../core/database/index.js';
import { Logger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import type { ClaimedDelivery, Outcome } from './delivery-queue.repository.js';
import { OutcomesService } from './outcomes.service.js';
import { judge } from './retry-schedule.js';
import type { SentAttempt } from './sender.service.js';

/** A batch smaller than this waits for more outcomes: a commit costs more than its rows. */
const GATHER_MS = 20;
const ENOUGH = 64;
/** Pause between tries while the database is away. */
const RETRY_MS = 250;

interface Entry {
  readonly outcome: Outcome;
  readonly done: () => void;
}

/** Writes the outcomes of attempts, one batch at a time; each batch takes everything that has ended meanwhile. */
@Injectable()
export class Recorder {
  #entries: Entry[] = [];
  #writing = false;
  #closed = false;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly outcomes: OutcomesService,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /**
   * Resolves when the outcome is written, or when this process gives up. In the latter case the delivery is due again
   * when its lease ends.
   */
  record(delivery: ClaimedDelivery, attempt: SentAttempt): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const endedAt = this.clock.now();
    const verdict = judge(attempt, delivery, this.config.webhooks.retryScheduleSeconds, endedAt, Math.random());
    return new Promise((done) => {
      this.#entries.push({ outcome: { delivery, attempt, endedAt, ...verdict }, done });
      if (!this.#writing) void this.#write();
    });
  }

  /** Stops writing. A delivery without a written outcome is due again when its lease ends. */
  close(): void {
    this.#closed = true;
    for (const { done } of this.#entries.splice(0)) done();
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#entries.length > 0) {
      if (this.#entries.length < ENOUGH) await delay(GATHER_MS);
      const batch = this.#entries.splice(0);
      try {
        await this.outcomes.write(batch.map(({ outcome }) => outcome));
        this.#settle(batch);
      } catch (error) {
        await this.#recover(batch, error);
      }
    }
    this.#writing = false;
  }

  async #recover(batch: readonly Entry[], error: unknown): Promise<void> {
    if (this.#closed) {
      for (const { done } of batch) done();
      return;
    }
    if (isAway(error)) {
      this.logger.warn({ error, count: batch.length }, 'webhook attempts not recorded yet; the database is away');
      this.#entries.unshift(...batch);
      await delay(RETRY_MS);
      return;
    }
    // An outcome that cannot be written must not block the others: all of them would be sent again.
    for (const entry of batch) {
      try {
        await this.outcomes.write([entry.outcome]);
        this.#settle([entry]);
      } catch (cause) {
        const { id } = entry.outcome.delivery;
        this.logger.error({ error: cause, deliveryId: id }, 'a webhook attempt was not recorded; it will be repeated');
        entry.done();
      }
    }
  }

  #settle(entries: readonly Entry[]): void {
    for (const { outcome, done } of entries) {
      const { status } = outcome;
      this.metrics.deliveries.inc({ outcome: status === 'PENDING' ? 'retry' : status.toLowerCase() });
      done();
    }
  }
}
