import { Injectable } from '@nestjs/common';
import { statement, type Tx } from '../core/database/index.js';
import type { Scope } from '../core/mode.js';

/** Source: interface.md, "Webhook delivery status". */
export const DELIVERY_STATUSES = ['PENDING', 'PROCESSING', 'DELIVERED', 'FAILED', 'CANCELLED'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One public event as its receivers get it, with a delivery for each of them. */
export interface Message extends Scope {
  readonly eventId: string;
  readonly eventType: string;
  /** What the event is about. */
  readonly subjectId: string;
  /** Asked for by hand: made whatever was delivered before. Otherwise an event is one delivery for each endpoint and name. */
  readonly manual: boolean;
  readonly payload: string;
  readonly deliveries: readonly { readonly id: string; readonly endpointId: string }[];
}

export interface Attempt {
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly responseBody: string | null;
}

/** A payload travels once for all its receivers. */
const INSERT = statement(
  'webhook_deliveries.insert',
  `INSERT INTO webhook_deliveries (id, account_id, mode, endpoint_id, event_id, event_type, subject_id, manual,
     payload, status, max_attempts, next_attempt_at, created_at, updated_at)
   SELECT d.id, m.account_id, m.mode, d.endpoint_id, m.event_id, m.event_type, m.subject_id, m.manual, m.payload,
     'PENDING', $11::int, $12::timestamptz, $12, $12
   FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS d (id, endpoint_id, message)
   JOIN unnest($4::uuid[], $5::text[], $6::uuid[], $7::text[], $8::uuid[], $9::boolean[], $10::text[])
     WITH ORDINALITY AS m (account_id, mode, event_id, event_type, subject_id, manual, payload, number)
     ON m.number = d.message
   ON CONFLICT (event_id, endpoint_id, event_type) WHERE NOT manual DO NOTHING`,
);
/** Only while the endpoint takes nothing: who switches it on meanwhile gets what is left. */
const CANCEL_PENDING = statement(
  'webhook_deliveries.cancel_pending',
  `UPDATE webhook_deliveries SET status = 'CANCELLED', next_attempt_at = NULL,
     last_error = 'the endpoint is inactive', updated_at = $2
   WHERE id IN (
     SELECT d.id FROM webhook_endpoints e
     JOIN webhook_deliveries d ON d.account_id = e.account_id AND d.mode = e.mode AND d.endpoint_id = e.id
     WHERE e.id = ANY ($1::uuid[]) AND e.status <> 'ACTIVE' AND d.status = 'PENDING'
     LIMIT $3 FOR UPDATE OF d)
   RETURNING id`,
);

@Injectable()
export class DeliveriesRepository {
  /** Inserts all deliveries of the messages in one statement, due at once; one that exists already is left alone. */
  insert(tx: Tx, messages: readonly Message[], maxAttempts: number, now: Date): void {
    const deliveries = messages.flatMap((message, index) =>
      message.deliveries.map((delivery) => ({ ...delivery, message: index + 1 })),
    );
    tx.defer(INSERT, [
      deliveries.map((delivery) => delivery.id),
      deliveries.map((delivery) => delivery.endpointId),
      deliveries.map((delivery) => delivery.message),
      messages.map((message) => message.accountId),
      messages.map((message) => message.mode),
      messages.map((message) => message.eventId),
      messages.map((message) => message.eventType),
      messages.map((message) => message.subjectId),
      messages.map((message) => message.manual),
      messages.map((message) => message.payload),
      maxAttempts,
      now,
    ]);
  }

  /** What waits for those of the endpoints that are INACTIVE. @returns how many, at most `limit` */
  async cancelPending(tx: Tx, endpointIds: readonly string[], now: Date, limit: number): Promise<number> {
    return (await tx.query(CANCEL_PENDING, [endpointIds, now, limit])).length;
  }
}
