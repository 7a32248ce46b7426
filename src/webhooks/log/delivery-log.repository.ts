import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../core/crypto/index.js';
import { columnsOf, read, Reader, type Tx, write } from '../../core/database/index.js';
import { idBound } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import { Retained } from '../../core/retention.js';
import { WebhookAttemptEntity } from '../webhook-attempt.entity.js';
import { type DeliveryStatus, WebhookDeliveryEntity } from '../webhook-delivery.entity.js';
import type { EndpointStatus, WebhookEndpointEntity } from '../webhook-endpoint.entity.js';
import type { WebhookMessageEntity } from '../webhook-message.entity.js';
import { type Attempt, messageContext } from './deliveries.repository.js';

/** A delivery with the current state of its endpoint. `kind` direct: to a transaction's own URL. */
export interface DeliveryRecord
  extends
    Omit<WebhookDeliveryEntity, (typeof UNSHOWN)[number]>,
    Pick<WebhookEndpointEntity, 'kind' | 'url' | 'pausedUntil'>,
    Pick<WebhookMessageEntity, 'eventId' | 'payload'> {
  readonly endpointStatus: EndpointStatus;
}

const UNSHOWN = ['accountId', 'mode', 'subjectId'] as const;

export interface AttemptRecord extends Attempt {
  readonly number: number;
}

export interface DeliveryFilter {
  readonly statuses: readonly DeliveryStatus[];
  readonly eventTypes: readonly string[];
  /** Null for all. */
  readonly endpointId: string | null;
  /** The object that the deliveries are about; null for all. */
  readonly subjectId: string | null;
}

const COLUMNS = `${columnsOf(WebhookDeliveryEntity, 'd', { without: UNSHOWN })}, e.kind, e.url,
  e.paused_until AS "pausedUntil", e.status AS "endpointStatus", m.event_id AS "eventId", m.payload`;

/** Conditions that name an owner's deliveries, for each index: $1 account, $2 mode, and $3 the endpoint, if any. */
interface Owned {
  readonly delivered: string;
  readonly undelivered: string;
}

const OF_ACCOUNT: Owned = {
  delivered: `account_id = $1 AND mode = $2 AND $3::uuid IS NULL`,
  undelivered: `account_id = $1 AND mode = $2 AND $3::uuid IS NULL`,
};
/** The endpoint's index does not contain the owner, so a subquery checks the owner once. */
const OF_ENDPOINT: Owned = {
  delivered: `endpoint_id = (SELECT id FROM webhook_endpoints WHERE id = $3 AND account_id = $1 AND mode = $2)`,
  undelivered: `account_id = $1 AND mode = $2 AND endpoint_id = $3`,
};
const DELIVERED = `status = 'DELIVERED'`;
/** $4 statuses */
const UNDELIVERED = `status <> 'DELIVERED' AND status = ANY ($4::text[])`;

/**
 * Newest first. DELIVERED rows may be millions; the index keeps them by name ($5), newest first. Merging the heads of
 * the names limits the cost of a page to its shown and skipped rows. Other statuses have few rows, which are sorted.
 */
const list = ({ delivered, undelivered }: Owned): string => `SELECT ${COLUMNS} FROM (
     SELECT id FROM (
       SELECT head.id FROM unnest($5::text[]) AS n (name) CROSS JOIN LATERAL (
         SELECT id FROM webhook_deliveries WHERE ${delivered} AND ${DELIVERED} AND event_type = n.name
         ORDER BY id DESC LIMIT $6::int + $7::int) head
       WHERE 'DELIVERED' = ANY ($4)
       UNION ALL
       SELECT id FROM webhook_deliveries WHERE ${undelivered} AND ${UNDELIVERED} AND event_type = ANY ($5)
     ) found ORDER BY id DESC LIMIT $6 OFFSET $7) page
   JOIN webhook_deliveries d ON d.id = page.id
   JOIN webhook_messages m ON m.id = d.message_id
   JOIN webhook_endpoints e ON e.id = d.endpoint_id
   ORDER BY d.id DESC`;
const LIST = read('webhook_deliveries.list', list(OF_ACCOUNT));
const LIST_OF_ENDPOINT = read('webhook_deliveries.list_of_endpoint', list(OF_ENDPOINT));

/** Reads only indexes, which contain every column. */
const count = ({ delivered, undelivered }: Owned): string => `SELECT
     CASE WHEN 'DELIVERED' = ANY ($4) THEN (
       SELECT count(*) FROM webhook_deliveries WHERE ${delivered} AND ${DELIVERED} AND event_type = ANY ($5::text[])
     ) ELSE 0 END + (
       SELECT count(*) FROM webhook_deliveries WHERE ${undelivered} AND ${UNDELIVERED} AND event_type = ANY ($5)
     ) AS count`;
const COUNT = read('webhook_deliveries.count', count(OF_ACCOUNT));
const COUNT_OF_ENDPOINT = read('webhook_deliveries.count_of_endpoint', count(OF_ENDPOINT));
/**
 * Deliveries of the subject's events, and deliveries that a merchant asked for; both are few. $3 the endpoint or null,
 * $6 the subject.
 */
const OF_SUBJECT = `webhook_deliveries WHERE id = ANY (ARRAY(
     SELECT unnest(delivery_ids) FROM webhook_messages
     WHERE NOT manual AND event_id IN (SELECT id FROM events WHERE subject_id = $6)
     UNION ALL
     SELECT id FROM webhook_deliveries WHERE manual AND subject_id = $6 AND endpoint_id IN (
       SELECT id FROM webhook_endpoints WHERE account_id = $1 AND mode = $2)))
   AND account_id = $1 AND mode = $2 AND ($3::uuid IS NULL OR endpoint_id = $3)
   AND status = ANY ($4::text[]) AND event_type = ANY ($5::text[])`;
const LIST_OF_SUBJECT = read(
  'webhook_deliveries.list_of_subject',
  `SELECT ${COLUMNS} FROM (SELECT id FROM ${OF_SUBJECT} ORDER BY id DESC LIMIT $7 OFFSET $8) page
   JOIN webhook_deliveries d ON d.id = page.id
   JOIN webhook_messages m ON m.id = d.message_id
   JOIN webhook_endpoints e ON e.id = d.endpoint_id
   ORDER BY d.id DESC`,
);
const COUNT_OF_SUBJECT = read('webhook_deliveries.count_of_subject', `SELECT count(*) AS count FROM ${OF_SUBJECT}`);
const STATS = read(
  'webhook_deliveries.stats',
  `SELECT 'DELIVERED' AS status, count(*) AS count FROM webhook_deliveries
   WHERE account_id = $1 AND mode = $2 AND ${DELIVERED}
   UNION ALL
   SELECT status, count(*) FROM webhook_deliveries
   WHERE account_id = $1 AND mode = $2 AND status <> 'DELIVERED' GROUP BY status`,
);
const FIND = read(
  'webhook_deliveries.find',
  `SELECT ${COLUMNS} FROM webhook_deliveries d
   JOIN webhook_messages m ON m.id = d.message_id JOIN webhook_endpoints e ON e.id = d.endpoint_id
   WHERE d.id = $1 AND d.account_id = $2 AND d.mode = $3`,
);
const LOCK = write('webhook_deliveries.lock', `${FIND.text} FOR UPDATE OF d`);
const ATTEMPTS = read(
  'webhook_attempts.list',
  `SELECT ${columnsOf(WebhookAttemptEntity, 'a', { without: ['deliveryId', 'accountId'] })} FROM webhook_attempts a
   WHERE delivery_id = $1 ORDER BY number`,
);
/** A FAILED delivery keeps its unused attempts, as after a 410, and gets at least one. */
const RETRY = write(
  'webhook_deliveries.retry',
  `UPDATE webhook_deliveries SET status = 'PENDING', next_attempt_at = $2, updated_at = $2,
     max_attempts = greatest(max_attempts, attempts + 1)
   WHERE id = $1 AND status IN ('PENDING', 'FAILED')`,
);
/**
 * Removes ended deliveries with their attempts, and messages without deliveries. A concurrent retry holds the row's
 * lock, so the status is checked again after locking.
 */
const REMOVE = write(
  'webhook_deliveries.remove',
  `WITH ended AS (
     SELECT id, message_id FROM webhook_deliveries
     WHERE id < $1 AND status IN ('DELIVERED', 'FAILED', 'CANCELLED') AND updated_at < $2
     ORDER BY id LIMIT $3 FOR UPDATE),
   attempts AS (DELETE FROM webhook_attempts a USING ended WHERE a.delivery_id = ended.id),
   deliveries AS (DELETE FROM webhook_deliveries d USING ended WHERE d.id = ended.id),
   messages AS (
     DELETE FROM webhook_messages m WHERE m.id IN (SELECT message_id FROM ended) AND NOT EXISTS (
       SELECT 1 FROM unnest(m.delivery_ids) AS i (id) CROSS JOIN LATERAL (
         SELECT id FROM webhook_deliveries WHERE id = i.id OFFSET 0) d
       WHERE d.id NOT IN (SELECT id FROM ended)))
   SELECT 1 FROM ended`,
);

/** Deliveries as their merchant reads them. */
@Injectable()
export class DeliveryLogRepository {
  constructor(
    private readonly reader: Reader,
    private readonly secrets: SecretBox,
  ) {}

  /** Newest first. */
  async list(scope: Scope, filter: DeliveryFilter, limit: number, offset: number): Promise<DeliveryRecord[]> {
    const statement =
      filter.subjectId !== null ? LIST_OF_SUBJECT : filter.endpointId === null ? LIST : LIST_OF_ENDPOINT;
    const rows = await this.reader.query<DeliveryRecord>(statement, [...filterValues(scope, filter), limit, offset]);
    return rows.map((row) => this.#opened(row));
  }

  async count(scope: Scope, filter: DeliveryFilter): Promise<number> {
    const statement =
      filter.subjectId !== null ? COUNT_OF_SUBJECT : filter.endpointId === null ? COUNT : COUNT_OF_ENDPOINT;
    const [row] = await this.reader.query<{ count: number }>(statement, filterValues(scope, filter));
    return row?.count ?? 0;
  }

  async stats(scope: Scope): Promise<Record<DeliveryStatus, number>> {
    const rows = await this.reader.query<{ status: DeliveryStatus; count: number }>(STATS, [
      scope.accountId,
      scope.mode,
    ]);
    const counts = { PENDING: 0, PROCESSING: 0, DELIVERED: 0, FAILED: 0, CANCELLED: 0 };
    for (const row of rows) counts[row.status] = row.count;
    return counts;
  }

  async find(scope: Scope, id: string): Promise<DeliveryRecord | null> {
    const [row] = await this.reader.query<DeliveryRecord>(FIND, [id, scope.accountId, scope.mode]);
    return row ? this.#opened(row) : null;
  }

  /** Oldest first. */
  async attempts(id: string): Promise<AttemptRecord[]> {
    return this.reader.query(ATTEMPTS, [id]);
  }

  /** Locks the delivery, but not its endpoint, until the end of `tx`. */
  async lock(tx: Tx, scope: Scope, id: string): Promise<DeliveryRecord | null> {
    const [row] = await tx.query<DeliveryRecord>(LOCK, [id, scope.accountId, scope.mode]);
    return row ? this.#opened(row) : null;
  }

  #opened(row: DeliveryRecord): DeliveryRecord {
    return { ...row, payload: this.secrets.openText(row.payload, messageContext(row.messageId)) };
  }

  /** PENDING or FAILED → PENDING, due now. The caller holds its lock. */
  retry(tx: Tx, id: string, now: Date): void {
    tx.defer(RETRY, [id, now]);
  }

  /** @returns the number of removed deliveries, which had ended before that time */
  @Retained('webhook_deliveries', 'events')
  async remove(tx: Tx, before: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE, [idBound(before, 'min'), before, limit])).length;
  }
}

function filterValues(scope: Scope, { endpointId, statuses, eventTypes, subjectId }: DeliveryFilter): unknown[] {
  return [
    ...[scope.accountId, scope.mode, endpointId, statuses, eventTypes],
    ...(subjectId === null ? [] : [subjectId]),
  ];
}
