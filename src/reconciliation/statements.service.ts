import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { Poller } from '../core/queue/index.js';
import { afterFailure, afterRead, windowOf } from './statement-window.js';
import { StatementReader } from './statement-reader.service.js';
import type { StatementList } from './statements.entity.js';
import { type Progress, StatementsRepository } from './statements.repository.js';

/** Renewed while a worker reads: if the worker dies, the list is blocked no longer than this. */
export const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

/**
 * Keeps track of how far the acquirers' lists are read. Covered are payments whose callback never came, payments of the
 * last days that were listed late (once a day), returns of the last ninety days, and sends of the last thirty.
 */
@Injectable()
export class StatementsService {
  constructor(
    private readonly database: Database,
    private readonly statements: StatementsRepository,
    private readonly reader: StatementReader,
    private readonly poller: Poller,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Reads one window of a list. Never throws: if the window cannot be read, it is kept and read again later. */
  async read(acquirer: string, list: StatementList): Promise<void> {
    const progress = await this.statements.find(acquirer, list);
    if (!progress) return;
    const now = this.clock.now();
    const window = windowOf(progress, now);
    const lease = this.#lease(progress);
    let problem: string | null = null;
    try {
      await this.reader.read(acquirer, list, window);
    } catch (error) {
      problem = error instanceof Error ? error.message.slice(0, 500) : String(error);
      this.logger.error({ error, acquirer, list, ...window }, 'a statement could not be read; it is kept');
    }
    this.metrics.statements.inc({ list, outcome: problem === null ? 'read' : 'failed' });
    const after = problem === null ? afterRead(progress, window, now) : afterFailure(progress, this.clock.now());
    const held = await lease.end();
    await this.database.transaction(async (tx) => this.statements.save(tx, held, after, problem));
    // Wakes the sweep for the next window of an unfinished pass, as after an outage.
    if (problem === null && after.resumeAt !== null) this.poller.wake('reconciliation.statements');
  }

  /** Keeps the list from other workers, however long the acquirer takes. */
  #lease(progress: Progress): { end(): Promise<Progress> } {
    let held = progress;
    let renewal = Promise.resolve();
    const renew = async (): Promise<void> => {
      const leasedUntil = new Date(this.clock.now().getTime() + LEASE_MS);
      held = await this.database.transaction((tx) => this.statements.renew(tx, held, leasedUntil));
    };
    const timer = setInterval(() => {
      renewal = renewal.then(renew).catch((error: unknown) => {
        this.logger.warn(
          { error, acquirer: held.acquirer, list: held.list },
          'the lease of a statement was not renewed',
        );
      });
    }, RENEW_MS);
    return {
      end: async () => {
        clearInterval(timer);
        await renewal;
        return held;
      },
    };
  }
}
