import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { JobQueue, Poller } from '../core/queue/index.js';
import { OutboxModule, OutboxRepository } from '../outbox/index.js';
import { StorageModule } from '../storage/index.js';
import { ReleasesService, WalletsModule, WalletsService } from '../wallets/index.js';
import { HealthController } from './health.controller.js';

const COHERENCE_MS = 5 * 60_000;
const OVERDUE_MS = 60_000;

@Module({ imports: [OutboxModule, StorageModule, WalletsModule], controllers: [HealthController] })
export class HealthModule implements OnApplicationBootstrap {
  /** Not a number while it is not known: before the first check, and after one that failed. */
  #incoherent = Number.NaN;
  #overdue = Number.NaN;

  constructor(
    private readonly database: Database,
    private readonly queue: JobQueue,
    private readonly outbox: OutboxRepository,
    private readonly wallets: WalletsService,
    private readonly releases: ReleasesService,
    private readonly metrics: Metrics,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const { metrics } = this;
    metrics.gauge(
      'recebe_outbox_pending',
      'Events that wait for the relay (at most 10000 are counted).',
      async () => (await this.outbox.lag(this.clock.now())).pending,
    );
    metrics.gauge(
      'recebe_outbox_lag_seconds',
      'Age of the oldest event that waits.',
      async () => (await this.outbox.lag(this.clock.now())).seconds,
    );
    metrics.gauge('recebe_queue_waiting', 'Jobs that wait in the queue.', async () =>
      Object.values(await this.queue.counts()).reduce((sum, counts) => sum + counts.waiting, 0),
    );
    metrics.gauge('recebe_pool_connections', 'Open database connections.', () => this.database.poolUse().total);
    metrics.gauge('recebe_pool_waiting', 'Requests that wait for a connection.', () => this.database.poolUse().waiting);
    const isWorker = this.poller.onWorkers('wallets.overdue', OVERDUE_MS, async () => {
      this.#overdue = Number.NaN;
      this.#overdue = await this.releases.overdue();
    });
    if (!isWorker) return;
    metrics.gauge(
      'recebe_ledger_incoherent_balances',
      'Balances that are not the sum of their lines: anything but 0 is an incident.',
      () => this.#incoherent,
    );
    metrics.gauge(
      'recebe_releases_overdue',
      'Pending money that should have been released an hour ago or more, by the number of its payments.',
      () => this.#overdue,
    );
    this.poller.every('wallets.coherence', COHERENCE_MS, async () => {
      this.#incoherent = Number.NaN;
      const found = await this.wallets.incoherent();
      this.#incoherent = found.length;
      if (found.length > 0) this.logger.error({ balances: found.length }, 'the ledger is not coherent');
    });
  }
}
