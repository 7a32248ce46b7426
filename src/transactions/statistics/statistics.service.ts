import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { businessDayWindow, type Day, saoPauloDay, saoPauloDayBounds } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import type { Scope } from '../../core/mode.js';
import { Poller } from '../../core/queue/index.js';
import type { FigureKind } from './transaction-figure.entity.js';
import { type Figure, type FigureDifference, StatisticsRepository } from './statistics.repository.js';

/** Figures of the transactions that were created in a window of days. */
export interface WindowFigures {
  /** Calendar days of São Paulo, the oldest first, today last. */
  readonly days: readonly Day[];
  readonly figures: readonly Figure[];
}

const FOLD_MS = 1_000;
const FOLD_BATCH = 5_000;

/**
 * Statistics at a cost that grows with days, not with transactions. Each change of a transaction is recorded in its own
 * commit, and a worker folds the records into figures by day. A read adds the records that are not folded yet, so it is
 * always exact, whether or not a worker runs.
 */
@Injectable()
export class StatisticsService implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly statistics: StatisticsRepository,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.onWorkers('transactions.figures', FOLD_MS, () => this.fold());
  }

  /**
   * Reads the shortest run of days that ends today and has that many business days (docs/contract.md#statistics).
   * @param want.daily the kinds that are returned for each day too, besides for the whole
   */
  async window(
    scope: Scope,
    businessDays: number,
    want: {
      readonly kinds: readonly FigureKind[];
      readonly daily: readonly FigureKind[];
      readonly currency: string | null;
    },
  ): Promise<WindowFigures> {
    const now = this.clock.now();
    const today = saoPauloDay(now);
    const days = businessDayWindow(today, businessDays);
    const bounds = { from: saoPauloDayBounds(days[0] ?? today).from, to: saoPauloDayBounds(today).to };
    return { days, figures: await this.statistics.read(scope, bounds, now, want) };
  }

  /** Folds changes into the figures; safe in any number of workers. @returns whether there may be more at once */
  async fold(): Promise<boolean> {
    return (await this.database.transaction((tx) => this.statistics.fold(tx, FOLD_BATCH))) === FOLD_BATCH;
  }

  /** Lists figures that differ from the transactions; there should be none. @param accountId null: all accounts */
  async check(accountId: string | null): Promise<FigureDifference[]> {
    return this.database.transaction((tx) => this.statistics.differences(tx, accountId));
  }

  /** Corrects the figures from the transactions, while the service runs. @returns the differences it corrected */
  async rebuild(accountId: string | null): Promise<FigureDifference[]> {
    return this.database.transaction((tx) => this.statistics.mend(tx, accountId));
  }
}
