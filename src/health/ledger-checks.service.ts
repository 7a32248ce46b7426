import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { Poller } from '../core/queue/index.js';
import { ReleasesService, WalletsService } from '../wallets/index.js';

const COHERENCE_MS = 5 * 60_000;
const OVERDUE_MS = 60_000;

/** Workers look again and again for what the ledger must never have, and show in metrics how much of it there is. */
@Injectable()
export class LedgerChecks implements OnApplicationBootstrap {
  /** Not a number while it is not known: before the first check, and after one that failed. */
  #incoherent = Number.NaN;
  #overdue = Number.NaN;

  constructor(
    private readonly wallets: WalletsService,
    private readonly releases: ReleasesService,
    private readonly metrics: Metrics,
    private readonly poller: Poller,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const isWorker = this.poller.onWorkers('wallets.overdue', OVERDUE_MS, async () => {
      this.#overdue = Number.NaN;
      this.#overdue = await this.releases.overdue();
    });
    if (!isWorker) return;
    this.metrics.gauge(
      'recebe_ledger_incoherent_balances',
      'Balances that are not the sum of their lines: anything but 0 is an incident.',
      () => this.#incoherent,
    );
    this.metrics.gauge(
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
