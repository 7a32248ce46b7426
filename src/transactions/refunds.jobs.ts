import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database } from '../core/database/index.js';
import { JobQueue, Poller } from '../core/queue/index.js';
import { LEASE_MS } from './refunds.moves.js';
import { RefundsRepository } from './refunds.repository.js';

/** Refunds in the sandbox take about a second, of which waiting for the next sweep should be the smaller part. */
const SWEEP_MS = 250;
const BATCH = 100;

/** Queues the refunds that are due to be asked for (again), and those whose job was lost. */
@Injectable()
export class RefundJobs implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly refunds: RefundsRepository,
    private readonly queue: JobQueue,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.runsWorkers) return;
    this.poller.every('transactions.refunds', SWEEP_MS, () => this.sweep());
  }

  /** @returns whether there may be more at once */
  async sweep(): Promise<boolean> {
    const now = this.clock.now();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const ids = await this.database.transaction((tx) => this.refunds.claimDue(tx, now, leasedUntil, BATCH));
    if (ids.length > 0)
      await this.queue.add(
        'transactions.refund',
        ids.map((refundId) => ({ refundId })),
      );
    return ids.length === BATCH;
  }
}
