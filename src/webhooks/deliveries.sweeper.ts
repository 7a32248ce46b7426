import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database } from '../core/database/index.js';
import { Poller } from '../core/queue/index.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveryJobs, QUEUED_MS } from './delivery-jobs.js';

const SWEEP_MS = 1_000;
const BATCH = 500;
/** With this many jobs waiting the workers have enough to do; more copies of what waits already would only pile up. */
const ENOUGH_WAITING = 1_000;

/** Queues what is due: retries, and deliveries whose job or whose worker was lost. */
@Injectable()
export class DeliveriesSweeper implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly deliveries: DeliveriesRepository,
    private readonly jobs: DeliveryJobs,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.runsWorkers) this.poller.every('webhooks.sweep', SWEEP_MS, () => this.sweep());
  }

  /** Safe in any number of workers. @returns whether there may be more to do at once */
  async sweep(): Promise<boolean> {
    const waiting = await this.jobs.waiting();
    // Without a queue nothing is claimed: what is due then is queued the moment the queue is back, and not 30 s later.
    const limit = waiting === null ? 0 : Math.min(BATCH, ENOUGH_WAITING - waiting);
    if (limit <= 0) return false;
    const now = this.clock.now();
    const ids = await this.database.transaction((tx) => {
      this.deliveries.release(tx, now, BATCH);
      return this.deliveries.claimDue(tx, now, new Date(now.getTime() + QUEUED_MS), limit);
    });
    if (ids.length === 0) return false;
    return (await this.jobs.queue(ids)) && ids.length === limit;
  }
}
