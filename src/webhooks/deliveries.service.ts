import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database } from '../core/database/index.js';
import { Metrics } from '../core/metrics/index.js';
import { DeliveriesRepository, type TakenDelivery } from './deliveries.repository.js';
import { EndpointsRepository } from './endpoints.repository.js';
import { judge } from './retry-schedule.js';
import { Sender } from './sender.js';

/** Three times what an attempt may take: a worker that has written nothing by then is given up for dead. */
const LEASE_MS = 45_000;
/**
 * A delivery is due by the clock of the process that wrote it. On a worker whose clock is behind, it would look not yet
 * due, its job would do nothing, and it would wait for the sweeper.
 */
const CLOCK_SKEW_MS = 1_000;

/** Brings deliveries to their receivers. */
@Injectable()
export class DeliveriesService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly deliveries: DeliveriesRepository,
    private readonly endpoints: EndpointsRepository,
    private readonly sender: Sender,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {}

  /**
   * One attempt of a delivery that is due; nothing for any other, so a job may come twice or late. The post is made
   * outside any transaction: a crash between it and the record repeats it after the lease (at least once).
   */
  async deliver(deliveryId: string): Promise<void> {
    const now = this.clock.now();
    const delivery = await this.database.transaction((tx) =>
      this.deliveries.take(tx, deliveryId, {
        dueBy: new Date(now.getTime() + CLOCK_SKEW_MS),
        now,
        leasedUntil: new Date(now.getTime() + LEASE_MS),
      }),
    );
    if (delivery) await this.#attempt(delivery);
  }

  async #attempt(delivery: TakenDelivery): Promise<void> {
    const attempt = await this.sender.send(delivery);
    const now = this.clock.now();
    const verdict = judge(attempt, delivery, this.config.webhooks.retryScheduleSeconds, now, Math.random());
    await this.database.transaction(async (tx) => {
      this.deliveries.insertAttempt(tx, delivery, attempt);
      this.deliveries.finish(tx, delivery, verdict, attempt, now);
      if (attempt.statusCode === 410) {
        this.endpoints.deactivate(tx, delivery.endpointId, delivery.url, now);
        this.deliveries.cancelPending(tx, delivery.endpointId, now);
      }
    });
    this.metrics.deliveries.inc({ outcome: verdict.status === 'PENDING' ? 'retry' : verdict.status.toLowerCase() });
  }
}
