import { eventId } from '../../core/ids.js';
import type {
  DeliveryAttemptBody,
  DeliveryBody,
  DeliveryDetailBody,
  DeliveryListBody,
  DeliveryStatsBody,
  RecoveryBody,
} from '../dto/delivery.body.js';
import type { DeliveryStatus } from '../webhook-delivery.entity.js';
import type { AttemptRecord, DeliveryRecord } from './delivery-log.repository.js';
import type { Recovery } from './recovery.service.js';

export function deliveryItem(delivery: DeliveryRecord): DeliveryBody {
  return {
    id: `wd_${delivery.id}`,
    endpointId: delivery.kind === 'registered' ? `wh_${delivery.endpointId}` : null,
    eventType: delivery.eventType,
    status: delivery.status,
    attempts: delivery.attempts,
    maxAttempts: delivery.maxAttempts,
    lastStatusCode: delivery.lastStatusCode,
    lastError: delivery.lastError,
    nextRetryAt: nextRetryAt(delivery)?.toISOString() ?? null,
    deliveredAt: delivery.deliveredAt?.toISOString() ?? null,
    createdAt: delivery.createdAt.toISOString(),
    updatedAt: delivery.updatedAt.toISOString(),
    payload: JSON.parse(delivery.payload) as Record<string, unknown>,
  };
}

/** Due times are kept while an endpoint is left alone: nothing is sent before its pause has ended. */
function nextRetryAt({ status, endpointStatus, nextAttemptAt, pausedUntil }: DeliveryRecord): Date | null {
  // While PROCESSING the column is the worker's lease. An endpoint that is off gets nothing.
  if (status !== 'PENDING' || endpointStatus !== 'ACTIVE' || nextAttemptAt === null) return null;
  return pausedUntil !== null && pausedUntil > nextAttemptAt ? pausedUntil : nextAttemptAt;
}

export function deliveryList(
  page: { deliveries: readonly DeliveryRecord[]; total: number },
  limit: number,
  offset: number,
): DeliveryListBody {
  return { data: page.deliveries.map(deliveryItem), total: page.total, limit, offset };
}

/** @param attempts oldest first */
export function deliveryDetail(delivery: DeliveryRecord, attempts: readonly AttemptRecord[]): DeliveryDetailBody {
  return {
    ...deliveryItem(delivery),
    url: delivery.url,
    eventId: eventId(delivery.eventId),
    manual: delivery.manual,
    history: attempts.map(attemptItem),
  };
}

function attemptItem(attempt: AttemptRecord): DeliveryAttemptBody {
  return {
    number: attempt.number,
    startedAt: attempt.startedAt.toISOString(),
    durationMs: attempt.durationMs,
    statusCode: attempt.statusCode,
    error: attempt.error,
    responseBody: attempt.responseBody,
  };
}

export function deliveryStats(counts: Readonly<Record<DeliveryStatus, number>>): DeliveryStatsBody {
  return {
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    PENDING: counts.PENDING,
    PROCESSING: counts.PROCESSING,
    DELIVERED: counts.DELIVERED,
    FAILED: counts.FAILED,
    CANCELLED: counts.CANCELLED,
  };
}

export function recoveryBody(recovery: Recovery): RecoveryBody {
  return {
    object: 'webhook_recovery',
    since: recovery.since.toISOString(),
    dry_run: recovery.dryRun,
    failed: recovery.failed,
    charges: recovery.charges,
    queued: recovery.queued,
    has_more: recovery.hasMore,
  };
}
