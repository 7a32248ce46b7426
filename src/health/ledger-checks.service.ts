import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Metrics } from '../core/metrics/index.js';
import { Poller } from '../core/queue/index.js';
import { BalanceChecksService, ReleasesService } from '../wallets/index.js';

const LOOK_MS = 60_000;

/** Workers look again and again for what the ledger must never have, and show in metrics how much of it there is. */
@Injectable()
export class LedgerChecks implements OnApplicationBootstrap {
  /** NaN while it is not known: before the first check, when looking failed, or when the last check is long ago. */
  #incoherent = Number.NaN;
  #overdue = Number.NaN;

  constructor(
    private readonly balances: BalanceChecksService,
    private readonly releases: ReleasesService,
    private readonly metrics: Metrics,
    private readonly poller: Poller,
  ) {}

  onApplicationBootstrap(): void {
    const isWorker = this.poller.onWorkers('wallets.overdue', LOOK_MS, async () => {
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
    this.poller.every('wallets.coherence', LOOK_MS, async () => {
      this.#incoherent = Number.NaN;
      const isMore = await this.balances.check();
      this.#incoherent = (await this.balances.incoherent()) ?? Number.NaN;
      return isMore;
    });
  }
}
