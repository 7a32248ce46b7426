import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { Metrics } from '../core/metrics/index.js';
import { JobQueues } from '../core/queue/index.js';
import { OutboxRepository } from '../outbox/index.js';

/** Shows in metrics what waits: for the relay, in the queue, and for a connection of this process to the database. */
@Injectable()
export class Gauges implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly jobs: JobQueues,
    private readonly outbox: OutboxRepository,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    const { metrics } = this;
    metrics.gauge(
      'recebe_outbox_pending',
      'Events that wait for the relay (at most 10000 are counted).',
      async () => (await this.outbox.lag(this.clock.now())).pending,
    );
    metrics.gauge(
      'recebe_outbox_lag_seconds',
      'Age of the oldest event that waits.',
      async () => (await this.outbox.lag(this.clock.now())).seconds,
    );
    metrics.gauge('recebe_queue_waiting', 'Jobs that wait in Redis.', () => this.jobs.waiting());
    metrics.gauge('recebe_pool_connections', 'Open database connections.', () => this.database.poolUse().total);
    metrics.gauge('recebe_pool_waiting', 'Requests that wait for a connection.', () => this.database.poolUse().waiting);
  }
}
