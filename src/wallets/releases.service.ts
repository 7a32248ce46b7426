import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database, isAway, isLockTimeout, isStatementTimeout, type Tx } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { Poller } from '../core/queue/index.js';
import { LedgerService } from './ledger.service.js';
import type { Release } from './release.entity.js';
import { type DueRelease, ReleasesRepository } from './releases.repository.js';

const POLL_MS = 5_000;
const BATCH = 200;

/** Moves money from pending to available when its day has come. */
@Injectable()
export class ReleasesService implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly releases: ReleasesRepository,
    private readonly ledger: LedgerService,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.onWorkers('wallets.release', POLL_MS, () => this.run());
  }

  /**
   * Releases due money, safely in any number of workers. A release that fails is logged, put off and kept, and does not
   * delay others.
   * @returns whether there may be more to do at once
   * @throws when the database is away: nothing is put off for that
   */
  async run(): Promise<boolean> {
    const now = this.clock.now();
    try {
      const released = await this.database.transaction(async (tx) => {
        this.releases.waitBriefly(tx);
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

  /** Counts releases that are an hour late or more; normally there are none. */
  async overdue(): Promise<number> {
    return this.releases.overdue(this.clock.now());
  }

  async #oneByOne(now: Date): Promise<boolean> {
    const due = await this.releases.findDue(now, BATCH);
    // Accounts whose wallet somebody else has locked, and whether all their due releases could be put off together.
    const held = new Map<string, boolean>();
    let moved = 0;
    for (const release of due) {
      const { accountId } = release;
      if (!held.has(accountId)) {
        const error = await this.#release(now, release);
        if (error === null) {
          moved++;
          continue;
        }
        // Puts off the account: each of its other releases would wait as long, and delay everybody else's.
        if (isLockTimeout(error) || isStatementTimeout(error)) held.set(accountId, await this.#putOff({ accountId }));
      }
      if (held.get(accountId) === true || (await this.#putOff(release))) moved++;
    }
    return due.length === BATCH && moved > 0;
  }

  /** @returns the database's error, or null when it is released, by us or by another worker */
  async #release(now: Date, release: DueRelease): Promise<unknown> {
    try {
      await this.database.transaction(async (tx) => {
        this.releases.waitBriefly(tx);
        const claimed = await this.releases.claimOne(tx, now, release.id);
        if (claimed) this.#post(tx, [claimed]);
      });
      return null;
    } catch (error) {
      if (isAway(error)) throw error;
      const { id: releaseId, attempts } = release;
      this.logger.error({ error, releaseId, attempt: attempts + 1 }, 'pending money could not be released; kept');
      return error;
    }
  }

  /**
   * @param what one release, or all due releases of an account
   * @returns false for rows that cannot even be put off: they stay due, and are tried with the next batch
   */
  async #putOff(what: DueRelease | { readonly accountId: string }): Promise<boolean> {
    const now = this.clock.now();
    try {
      await this.database.transaction(async (tx) => {
        if ('id' in what) this.releases.putOff(tx, now, what);
        else this.releases.putOffAccount(tx, now, what.accountId);
      });
      return true;
    } catch (error) {
      if (isAway(error)) throw error;
      const about = 'id' in what ? { releaseId: what.id } : what;
      this.logger.error({ error, ...about }, 'what could not be released could not be put off either');
      return false;
    }
  }

  #post(tx: Tx, releases: readonly Release[]): void {
    this.ledger.post(
      tx,
      releases.map(({ accountId, mode, currency, transactionId, kind, amount }) => ({
        accountId,
        mode,
        currency,
        transactionId,
        cause: `${kind === 'reserve' ? 'release.reserve' : 'release'}:${transactionId}`,
        type: 'release',
        lines: { pending: -amount, available: amount },
      })),
    );
  }
}
