import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { badRequest, invalidRequest, notFound } from '../../core/errors/index.js';
import { parseId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import { EventCatalog } from '../../outbox/index.js';
import { EndpointsRepository } from '../endpoints/endpoints.repository.js';
import { Dispatcher } from '../sending/dispatcher.service.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../webhook-delivery.entity.js';
import { type AttemptRecord, DeliveryLogRepository, type DeliveryRecord } from './delivery-log.repository.js';

/** The answer of a single request contains all attempts, each with the receiver's response. */
const MAX_ATTEMPTS = 100;
const WHAT = 'webhook delivery';

/** Null selects all. */
export interface DeliveryQuery {
  readonly status: DeliveryStatus | null;
  readonly eventType: string | null;
  readonly endpointId: string | null;
  readonly subjectId: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** Shows a merchant the outcome of webhooks, and retries them. */
@Injectable()
export class DeliveryLogService {
  constructor(
    private readonly database: Database,
    private readonly log: DeliveryLogRepository,
    private readonly endpoints: EndpointsRepository,
    private readonly catalog: EventCatalog,
    private readonly dispatcher: Dispatcher,
    private readonly clock: Clock,
  ) {}

  /**
   * Newest first. An endpoint of another account or mode has no deliveries.
   * @throws ApiError 400 for a name that is no event
   */
  async list(scope: Scope, query: DeliveryQuery): Promise<{ deliveries: DeliveryRecord[]; total: number }> {
    const { status, eventType, endpointId, subjectId } = query;
    if (eventType !== null && !this.catalog.has(eventType)) {
      const message = 'is not an event; see GET /v1/webhooks/event-catalog';
      throw invalidRequest([{ param: 'eventType', code: 'invalid', message }]);
    }
    const filter = {
      statuses: status === null ? DELIVERY_STATUSES : [status],
      // Every name ever sent is in the catalog.
      eventTypes: eventType === null ? this.catalog.list().map(({ event }) => event) : [eventType],
      endpointId,
      subjectId,
    };
    const [deliveries, total] = await Promise.all([
      this.log.list(scope, filter, query.limit, query.offset),
      this.log.count(scope, filter),
    ]);
    return { deliveries, total };
  }

  async stats(scope: Scope): Promise<Record<DeliveryStatus, number>> {
    return this.log.stats(scope);
  }

  /** @throws ApiError 404 */
  async get(scope: Scope, id: string): Promise<{ delivery: DeliveryRecord; attempts: AttemptRecord[] }> {
    const delivery = await this.log.find(scope, deliveryId(id));
    if (!delivery) throw notFound(WHAT);
    return { delivery, attempts: await this.log.attempts(delivery.id) };
  }

  /**
   * Makes an attempt due now. A FAILED delivery gets at least one more; a waiting one is retried early. If an attempt
   * is due or under way, nothing changes, so of two concurrent calls only one has an effect.
   * @throws ApiError 400 `webhook_delivery_not_retryable` when it is DELIVERED or CANCELLED, or was attempted a hundred
   * times; `webhook_endpoint_inactive`; 404
   */
  async retry(scope: Scope, id: string): Promise<DeliveryRecord> {
    const uuid = deliveryId(id);
    const known = await this.log.find(scope, uuid);
    if (!known) throw notFound(WHAT);
    await this.database.transaction(async (tx) => {
      const now = this.clock.now();
      // Locks the endpoint before deliveries, as everywhere.
      this.endpoints.endPause(tx, [known.endpointId], now);
      const delivery = await this.log.lock(tx, scope, uuid);
      // The delivery's retention time was over and it is removed.
      if (!delivery) throw notFound(WHAT);
      if (isToBeRetried(delivery, now)) this.log.retry(tx, uuid, now);
      tx.afterCommit(() => this.dispatcher.wake([{ accountId: scope.accountId, endpointId: delivery.endpointId }]));
    });
    return (await this.log.find(scope, uuid)) ?? known;
  }
}

/** @throws ApiError when the delivery cannot be sent again, or not now */
function isToBeRetried({ status, attempts, endpointStatus, nextAttemptAt }: DeliveryRecord, now: Date): boolean {
  const isOver = status === 'DELIVERED' || status === 'CANCELLED';
  if (isOver || attempts >= MAX_ATTEMPTS) {
    const why = isOver ? `is ${status}` : `was attempted ${attempts} times`;
    throw badRequest(
      'webhook_delivery_not_retryable',
      `The delivery ${why}. To send its event again, use POST /v1/payments/{id}/resend-webhook.`,
    );
  }
  if (endpointStatus !== 'ACTIVE') {
    throw badRequest('webhook_endpoint_inactive', 'The endpoint is INACTIVE or deleted.');
  }
  return status === 'FAILED' || (status === 'PENDING' && nextAttemptAt !== null && nextAttemptAt > now);
}

function deliveryId(id: string): string {
  return parseId(id, ['wd_'], WHAT);
}
