import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { BalanceChecksRepository } from './balance-checks.repository.js';

const EVERY_MS = 5 * 60_000;
/** A check that is older than this says nothing of now. */
const STALE_MS = 3 * EVERY_MS;
/** Added up in one transaction, which takes some tenths of a second. */
const ENTRIES = 20_000;

/**
 * Compares every balance with the sum of its lines, every five minutes, in one worker. Lines are added up once: what they
 * come to is kept as a checkpoint, and the next check goes on from there. So a balance that was changed is found, and an
 * entry that moved no balance. Lines that somebody changes or removes behind a checkpoint, and entries of a wallet that
 * has no balance at all, are found by `ledger check` and `ledger verify`, which read all of them.
 */
@Injectable()
export class BalanceChecksService {
  constructor(
    private readonly database: Database,
    private readonly checks: BalanceChecksRepository,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Safe in any number of workers: one checks, and no sooner than it is due. @returns whether there is more to do at once */
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

  /** How many balances the last check found wrong; null while none is recent enough. */
  async incoherent(): Promise<number | null> {
    const last = await this.checks.last();
    const isStale = last === null || Math.abs(this.clock.now().getTime() - last.checkedAt.getTime()) > STALE_MS;
    return isStale ? null : last.incoherent;
  }
}
