import { Inject, Injectable, type OnApplicationBootstrap, SetMetadata } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Clock } from './clock.js';
import { type Config, CONFIG } from './config/index.js';
import { Database, read, type Tx } from './database/index.js';
import { Poller } from './queue/index.js';

const SWEEP_MS = 600_000;
const BATCH = 1_000;

/** Locks a table's removal until the end of the transaction: two workers would wait for each other's rows. */
const LOCK = read(
  'retention.lock',
  `SELECT pg_try_advisory_xact_lock(hashtextextended('retention:' || $1, 0)) AS "isFree"`,
);

/**
 * Removes the oldest ended rows from before `before`, one transaction for each batch.
 * @returns how many rows were looked at, at most `limit`; fewer mean the end
 */
type Removal = (tx: Tx, before: Date, limit: number) => Promise<number>;

interface Rule {
  readonly table: string;
  readonly kept: number | keyof Config['retentionMs'];
}

const RULE = 'recebe:retention';
const SCANNER = new MetadataScanner();

type OnRemoval = (target: object, name: string, method: TypedPropertyDescriptor<Removal>) => void;

/**
 * Declares that a repository's method removes expired rows from `table`.
 * @param kept milliseconds, or a kind that has a setting
 */
export const Retained = (table: string, kept: Rule['kept']): OnRemoval =>
  SetMetadata(RULE, { table, kept } satisfies Rule);

interface Kept {
  readonly keptMs: number;
  readonly remove: Removal;
}

/**
 * Removes expired rows, so that no table grows without limit: every table that a repository declares with `@Retained`.
 */
@Injectable()
export class Retention implements OnApplicationBootstrap {
  readonly #tables = new Map<string, Kept>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly discovery: DiscoveryService,
  ) {}

  onApplicationBootstrap(): void {
    for (const { instance } of this.discovery.getProviders()) {
      if (typeof instance === 'object' && instance !== null) this.keep(instance as object);
    }
    for (const table of this.#tables.keys()) {
      this.poller.onWorkers(`retention.${table}`, SWEEP_MS, () => this.remove(table));
    }
  }

  get tables(): string[] {
    return [...this.#tables.keys()];
  }

  /** Registers the removals that this repository declares. */
  keep(repository: object): void {
    for (const name of SCANNER.getAllMethodNames(Object.getPrototypeOf(repository) as object)) {
      const method = (repository as Record<string, unknown>)[name];
      const rule = typeof method === 'function' ? (Reflect.getMetadata(RULE, method) as Rule | undefined) : undefined;
      if (!rule) continue;
      if (this.#tables.has(rule.table)) throw new Error(`Two retentions are declared for the table ${rule.table}`);
      const keptMs = typeof rule.kept === 'number' ? rule.kept : this.config.retentionMs[rule.kept];
      this.#tables.set(rule.table, { keptMs, remove: (method as Removal).bind(repository) });
    }
  }

  /** Removes one batch. @returns whether there may be more */
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
