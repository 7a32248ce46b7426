import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { BalanceChecksRepository } from './balance-checks.repository.js';

const EVERY_MS = 5 * 60_000;
/** A check older than this says nothing about the present. */
const STALE_MS = 3 * EVERY_MS;
/** How many entries one transaction adds up, which takes some tenths of a second. */
const ENTRIES = 20_000;

/**
 * Compares every balance with the sum of its lines, every five minutes, in one worker. Lines are added up once: their
 * sum is kept as a checkpoint, and the next check continues from there.
 *
 * The check finds balances that were changed, and entries that moved no balance. Two errors are found only by `ledger
 * check` and `ledger verify`, which read all lines: lines that were changed or removed behind a checkpoint, and entries
 * of a wallet without any balance.
 */
@Injectable()
export class BalanceChecksService {
  constructor(
    private readonly database: Database,
    private readonly checks: BalanceChecksRepository,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Checks if a check is due; in any number of workers, one checks. @returns whether there is more to do at once */
  async check(): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const checkedAt = this.clock.now();
      if (!(await this.checks.claim(tx, new Date(checkedAt.getTime() - EVERY_MS), checkedAt))) return false;
      if ((await this.checks.advance(tx, ENTRIES)) === ENTRIES) return true;
      const incoherent = await this.checks.incoherent(tx, 10 * ENTRIES);
      if (incoherent > 0) this.logger.error({ balances: incoherent }, 'the ledger is not coherent');
      this.checks.finish(tx, { checkedAt, incoherent });
      return false;
    });
  }

  /** Returns how many balances the last check found wrong; null if no check is recent enough. */
  async incoherent(): Promise<number | null> {
    const last = await this.checks.last();
    const isStale = last === null || Math.abs(this.clock.now().getTime() - last.checkedAt.getTime()) > STALE_MS;
    return isStale ? null : last.incoherent;
  }
}
