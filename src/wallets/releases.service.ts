import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database, isLockTimeout, isStatementTimeout, isUnavailable, type Tx } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { Poller } from '../core/queue/index.js';
import { LedgerService } from './ledger.service.js';
import { type DueRelease, type Release, ReleasesRepository } from './releases.repository.js';

const POLL_MS = 5_000;
const BATCH = 200;
/** After the first failure; it doubles with each. */
const PAUSE_SECONDS = 60;
const LONGEST_PAUSE_SECONDS = 3600;

/** Moves money from pending to available when its day has come. */
@Injectable()
export class ReleasesService implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly releases: ReleasesRepository,
    private readonly ledger: LedgerService,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.runsWorkers) this.poller.every('wallets.release', POLL_MS, () => this.run());
  }

  /**
   * Safe in any number of workers. What cannot be released is logged, put off and kept, and holds up nothing else.
   * @returns whether there may be more to do at once
   * @throws when the database is away: nothing is put off for that
   */
  async run(): Promise<boolean> {
    const now = this.clock.now();
    try {
      const released = await this.database.transaction(async (tx) => {
        const due = await this.releases.claim(tx, now, BATCH);
        this.#post(tx, due);
        return due.length;
      });
      return released === BATCH;
    } catch (error) {
      if (isAway(error)) throw error;
      this.logger.error({ error }, 'releasing a batch of pending money failed; going one by one');
      return this.#oneByOne(now);
    }
  }

  async #oneByOne(now: Date): Promise<boolean> {
    const due = await this.releases.findDue(now, BATCH);
    // A wallet that somebody else holds would make each of its releases wait as long as the first.
    const heldAccounts = new Set<string>();
    let moved = 0;
    for (const release of due) {
      if (heldAccounts.has(release.accountId)) {
        if (await this.#putOff(release)) moved++;
        continue;
      }
      try {
        await this.database.transaction(async (tx) => {
          const claimed = await this.releases.claimOne(tx, now, release.id);
          if (claimed) this.#post(tx, [claimed]);
        });
        moved++;
      } catch (error) {
        if (isAway(error)) throw error;
        const { id: releaseId, attempts } = release;
        this.logger.error({ error, releaseId, attempt: attempts + 1 }, 'pending money could not be released; kept');
        if (isLockTimeout(error) || isStatementTimeout(error)) heldAccounts.add(release.accountId);
        if (await this.#putOff(release)) moved++;
      }
    }
    return due.length === BATCH && moved > 0;
  }

  /** @returns false for a row that refuses even that: it stays due, and is tried with the next batch */
  async #putOff(release: DueRelease): Promise<boolean> {
    const seconds = Math.min(PAUSE_SECONDS * 2 ** Math.min(release.attempts, 12), LONGEST_PAUSE_SECONDS);
    const until = new Date(this.clock.now().getTime() + seconds * 1000);
    try {
      await this.database.transaction(async (tx) => this.releases.putOff(tx, release, until));
      return true;
    } catch (error) {
      if (isAway(error)) throw error;
      this.logger.error({ error, releaseId: release.id }, 'a release that failed could not be put off');
      return false;
    }
  }

  #post(tx: Tx, releases: readonly Release[]): void {
    this.ledger.post(
      tx,
      releases.map(({ accountId, mode, currency, transactionId, amount }) => ({
        accountId,
        mode,
        currency,
        transactionId,
        cause: `release:${transactionId}`,
        lines: { pending: -amount, available: amount },
      })),
    );
  }
}

/** A single statement that took too long is about its rows, not about the database. */
function isAway(error: unknown): boolean {
  return isUnavailable(error) && !isStatementTimeout(error);
}
