import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database, RowBuffer } from '../core/database/index.js';
import { newId } from '../core/ids.js';
import { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { Poller } from '../core/queue/index.js';
import type { FraudHitEntity as FraudHit } from './fraud-hit.entity.js';
import { type FraudHitFilter, FraudHitsRepository } from './fraud-hits.repository.js';

const FLUSH_MS = 500;

/**
 * Records refusals of the guard, and those it would have made in shadow mode. Written off the request's path and kept
 * for some weeks.
 */
@Injectable()
export class FraudHits implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #rows: RowBuffer<FraudHit>;

  constructor(
    database: Database,
    private readonly hits: FraudHitsRepository,
    private readonly metrics: Metrics,
    private readonly poller: Poller,
    private readonly clock: Clock,
    logger: Logger,
  ) {
    this.#rows = new RowBuffer<FraudHit>({
      batch: 500,
      max: 10_000,
      insert: (rows) => database.transaction(async (tx) => hits.insert(tx, rows)),
      onDropped: (rows, error) => {
        metrics.rowsDropped.inc({ table: 'fraud_hits' }, rows);
        if (error !== null) logger.error({ error, rows }, 'fraud hits were refused by the database');
      },
    });
  }

  onApplicationBootstrap(): void {
    this.poller.every('fraud.hits', FLUSH_MS, () => this.#rows.flush());
  }

  /** Writes the buffered hits after the last request. */
  onApplicationShutdown(): Promise<void> {
    return this.#rows.drain();
  }

  record(hit: Omit<FraudHit, 'id' | 'createdAt'>): void {
    const createdAt = this.clock.now();
    this.metrics.fraudHits.inc({ code: hit.code, enforced: String(hit.enforced) });
    if (this.#rows.add({ ...hit, id: newId(createdAt), createdAt })) this.poller.wake('fraud.hits');
  }

  /** Hits of all accounts, for operators, newest first. */
  list(filter: FraudHitFilter): Promise<FraudHit[]> {
    return this.hits.list(filter);
  }
}
