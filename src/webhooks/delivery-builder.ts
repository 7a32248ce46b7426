import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import type { Tx } from '../core/database/index.js';
import { newId } from '../core/ids.js';
import { type DomainEvent, EventCatalog, type EventConsumer } from '../outbox/index.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveryJobs, QUEUED_MS } from './delivery-jobs.js';
import { EndpointsRepository } from './endpoints.repository.js';
import { buildMessages, candidatesOf, scopesOf } from './messages.js';
import { maxAttempts } from './retry-schedule.js';
import { ALL_CANONICAL } from './subscription.js';

/** Turns domain events into deliveries, in the relay's transaction. */
@Injectable()
export class DeliveryBuilder implements EventConsumer {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly catalog: EventCatalog,
    private readonly endpoints: EndpointsRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly jobs: DeliveryJobs,
    private readonly clock: Clock,
  ) {}

  /** At most two statements for a whole batch; one when nobody is subscribed. */
  async consume(tx: Tx, events: readonly DomainEvent[]): Promise<() => void> {
    const candidates = candidatesOf(events, this.catalog);
    if (candidates.length === 0) return () => undefined;
    const names = new Set([...candidates.map(({ publicEvent }) => publicEvent.name), ALL_CANONICAL]);
    const endpoints = await this.endpoints.subscribed(tx, scopesOf(candidates), [...names]);
    const now = this.clock.now();
    const canonicalNames = new Set(this.catalog.canonicalNames());
    const messages = buildMessages(candidates, endpoints, canonicalNames, () => newId(now));
    if (messages.length === 0) return () => undefined;
    const attempts = maxAttempts(this.config.webhooks.retryScheduleSeconds);
    this.deliveries.insert(tx, messages, attempts, now, new Date(now.getTime() + QUEUED_MS));
    const ids = messages.flatMap((message) => message.deliveries.map((delivery) => delivery.id));
    return () => {
      void this.jobs.queue(ids);
    };
  }
}
