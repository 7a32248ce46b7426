import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { newId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { Bucket } from './balance.entity.js';
import type { EntryType } from './entry-types.js';
import { WalletsRepository } from './wallets.repository.js';

export interface Posting extends Scope {
  readonly currency: string;
  /** The cause, as in `charge.paid:<id>`: a unique key, so the same cause can never post twice. */
  readonly cause: string;
  readonly type: EntryType;
  readonly transactionId: string | null;
  /** Amounts in the smallest unit, positive or negative; they sum to zero. */
  readonly lines: Partial<Record<Bucket, Amount>>;
}

/** Double-entry journal. Entries are never changed; a correction is a new entry. */
@Injectable()
export class LedgerService {
  constructor(
    private readonly wallets: WalletsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Posts entries and moves the balances with them. Locks the touched balance rows in sorted order until the commit:
   * call it last in a transaction. A cause that was posted before fails the transaction (unique violation of
   * `journal_entries_cause_key`).
   * @throws Error when an entry does not sum to zero: a mistake of the caller, caught before the database does
   */
  post(tx: Tx, postings: readonly Posting[]): void {
    const now = this.clock.now();
    const entries = postings.map((posting) => {
      const lines = (Object.entries(posting.lines) as [Bucket, Amount][])
        .filter(([, amount]) => amount !== 0)
        .map(([bucket, amount]) => ({ bucket, amount }));
      const sum = lines.reduce((total, line) => total + line.amount, 0);
      if (sum !== 0 || lines.length < 2 || !lines.every((line) => Number.isSafeInteger(line.amount))) {
        throw new Error(`The posting ${posting.cause} has ${lines.length} lines that sum to ${sum}, not to zero`);
      }
      return { ...posting, id: newId(now), lines };
    });
    if (entries.length > 0) this.wallets.post(tx, entries, now);
  }
}
