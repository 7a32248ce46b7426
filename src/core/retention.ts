import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from './clock.js';
import { type Config, CONFIG } from './config/index.js';
import { Database, read, type Tx } from './database/index.js';
import { Poller } from './queue/index.js';

const SWEEP_MS = 600_000;
const BATCH = 1_000;

/** Two workers at one table would wait for each other's rows. Held until the end of the transaction. */
const LOCK = read(
  'retention.lock',
  `SELECT pg_try_advisory_xact_lock(hashtextextended('retention:' || $1, 0)) AS "isFree"`,
);

/**
 * Removes the oldest rows that are over and whose time was before `before`, one transaction for each batch.
 * @returns how many rows of at most `limit` were looked at: fewer are the end
 */
export type Removal = (tx: Tx, before: Date, limit: number) => Promise<number>;

interface Kept {
  readonly keptMs: number;
  readonly remove: Removal;
}

/** Removes what is past its time, so that no table grows for ever. Each context says of its own tables how long. */
@Injectable()
export class Retention implements OnApplicationBootstrap {
  readonly #tables = new Map<string, Kept>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  /** Before the application has started. @param kept milliseconds, or a kind that has a setting */
  keep(table: string, kept: number | keyof Config['retentionMs'], remove: Removal): void {
    this.#tables.set(table, { keptMs: typeof kept === 'number' ? kept : this.config.retentionMs[kept], remove });
  }

  onApplicationBootstrap(): void {
    for (const table of this.#tables.keys()) {
      this.poller.onWorkers(`retention.${table}`, SWEEP_MS, () => this.remove(table));
    }
  }

  /** One batch. @returns whether there may be more */
  async remove(table: string): Promise<boolean> {
    const kept = this.#tables.get(table);
    if (!kept) throw new Error(`No retention is registered for the table ${table}`);
    const before = new Date(this.clock.now().getTime() - kept.keptMs);
    return this.database.transaction(async (tx) => {
      const [lock] = await tx.query<{ isFree: boolean }>(LOCK, [table]);
      return lock?.isFree === true && (await kept.remove(tx, before, BATCH)) === BATCH;
    });
  }
}
