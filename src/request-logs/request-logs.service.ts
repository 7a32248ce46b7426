import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock, DAY_MS } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database, isPartitionMissing } from '../core/database/index.js';
import { Poller } from '../core/queue/index.js';
import type { RequestLogEntity as RequestLog } from './request-log.entity.js';
import { type RequestLogFilter, RequestLogsRepository } from './request-logs.repository.js';

const DAYS_AHEAD = 2;
const ROTATE_MS = 3_600_000;

/** Stores the API requests of merchants, in a table with a partition for each day. */
@Injectable()
export class RequestLogsService implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly logs: RequestLogsRepository,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.onWorkers('request-logs.rotate', ROTATE_MS, () => this.rotate());
    this.poller.wake('request-logs.rotate');
  }

  /** Newest first. */
  list(accountId: string, filter: RequestLogFilter): Promise<RequestLog[]> {
    return this.logs.list(accountId, filter);
  }

  /** Idempotent: may be called again with the same rows. */
  async write(rows: readonly RequestLog[]): Promise<void> {
    const insert = (): Promise<void> => this.database.transaction(async (tx) => this.logs.insert(tx, rows));
    try {
      await insert();
    } catch (error) {
      if (!isPartitionMissing(error)) throw error;
      // If no worker has run for days, the API makes the partitions itself.
      await this.#addDays(rows.map((row) => row.createdAt));
      await insert();
    }
  }

  /** Makes the partitions of the next days and drops expired ones; any number of workers may run it at once. */
  async rotate(): Promise<void> {
    const now = this.clock.now().getTime();
    await this.#addDays(Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => new Date(now + ahead * DAY_MS)));
    const firstKept = dayOf(new Date(now - this.config.retentionMs.requestLogs));
    await this.database.transaction(async (tx) => this.logs.dropBefore(tx, firstKept));
  }

  async #addDays(times: readonly Date[]): Promise<void> {
    await this.database.transaction(async (tx) => this.logs.addDays(tx, [...new Set(times.map(dayOf))]));
  }
}

/** The day in UTC. */
function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}
