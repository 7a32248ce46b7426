import { Injectable } from '@nestjs/common';
import { columnsOf, read, Reader, type Tx, write } from '../../core/database/index.js';
import { groupBy } from '../../core/group-by.js';
import type { Scope } from '../../core/mode.js';
import { WebhookDeliveryEntity } from '../webhook-delivery.entity.js';
import type { FailedDelivery } from './recovery.js';

/** Serialises recoveries of one endpoint: two at once would both find the same failures. */
const LOCK = write(
  'webhook_recoveries.lock',
  `SELECT pg_advisory_xact_lock(hashtextextended('webhook_recovery:' || $1, 0))`,
);
const NOT_FAILED = `status IN ('PENDING', 'PROCESSING', 'DELIVERED')`;
/** FAILED and CANCELLED are final, so the last change is when the delivery ended. */
const FAILED = read(
  'webhook_recoveries.failed',
  `SELECT ${columnsOf(WebhookDeliveryEntity, 'f', { only: ['id', 'subjectId', 'eventType', 'createdAt'] })},
     m.event_id AS "eventId" FROM webhook_deliveries f
   JOIN webhook_messages m ON m.id = f.message_id
   WHERE f.account_id = $1 AND f.mode = $2 AND f.status <> 'DELIVERED' AND f.status IN ('FAILED', 'CANCELLED')
     AND f.endpoint_id = $3 AND f.updated_at >= $4 AND f.updated_at <= $5 AND f.id > $7
     AND NOT EXISTS (
       SELECT 1 FROM webhook_deliveries n WHERE n.manual AND n.endpoint_id = $3 AND n.subject_id = f.subject_id
         AND n.${NOT_FAILED} AND n.created_at > f.created_at)
   ORDER BY f.id LIMIT $6`,
);
const ASKED = read(
  'webhook_recoveries.asked',
  `SELECT subject_id AS "subjectId", max(created_at) AS "askedAt" FROM webhook_deliveries
   WHERE manual AND endpoint_id = $1 AND subject_id = ANY ($2::uuid[]) AND ${NOT_FAILED} GROUP BY subject_id`,
);
const TOLD = read(
  'webhook_recoveries.told',
  // Joins message by message and delivery by delivery: `ANY (delivery_ids)` is planned as if it met every delivery.
  `SELECT m.event_id AS "eventId", m.event_type AS "eventType" FROM unnest($2::uuid[]) AS e (id)
   CROSS JOIN LATERAL (
     SELECT event_id, event_type, delivery_ids FROM webhook_messages WHERE NOT manual AND event_id = e.id OFFSET 0) m
   CROSS JOIN LATERAL unnest(m.delivery_ids) AS i (id)
   CROSS JOIN LATERAL (
     SELECT endpoint_id, status FROM webhook_deliveries WHERE id = i.id OFFSET 0) d
   WHERE d.endpoint_id = $1 AND d.${NOT_FAILED}`,
);

/** Reads the deliveries of one endpoint for a recovery. */
@Injectable()
export class RecoveryRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * Deliveries that ended FAILED or CANCELLED between the two moments and whose subject was not resent afterwards. At
   * most `limit`, with ids above `after`, in id order.
   */
  async failed(
    scope: Scope,
    endpointId: string,
    [since, until]: readonly [Date, Date],
    after: string,
    limit: number,
  ): Promise<FailedDelivery[]> {
    const values = [scope.accountId, scope.mode, endpointId, since, until, limit, after];
    return this.reader.query(FAILED, values);
  }

  lock(tx: Tx, endpointId: string): void {
    tx.defer(LOCK, [endpointId]);
  }

  /** For each subject, when its latest manual delivery that did not fail was created. */
  async asked(tx: Tx, endpointId: string, subjectIds: readonly string[]): Promise<Map<string, Date>> {
    const rows = await tx.query<{ subjectId: string; askedAt: Date }>(ASKED, [endpointId, subjectIds]);
    return new Map(rows.map((row) => [row.subjectId, row.askedAt]));
  }

  /** The names under which an event arrived or may still arrive by an automatic delivery, by event. */
  async told(tx: Tx, endpointId: string, eventIds: readonly string[]): Promise<Map<string, string[]>> {
    const rows = await tx.query<{ eventId: string; eventType: string }>(TOLD, [endpointId, eventIds]);
    const byEvent = groupBy(rows, (row) => row.eventId);
    return new Map([...byEvent].map(([id, told]) => [id, told.map((row) => row.eventType)]));
  }
}
