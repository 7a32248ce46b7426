import { Injectable } from '@nestjs/common';
import { statement, type Tx } from '../core/database/index.js';
import type { Scope } from '../core/mode.js';

export type DeliveryStatus = 'PENDING' | 'PROCESSING' | 'DELIVERED' | 'FAILED' | 'CANCELLED';

/** One public event as its receivers get it, with a delivery for each of them. */
export interface Message extends Scope {
  readonly eventId: string;
  readonly eventType: string;
  readonly payload: string;
  readonly deliveries: readonly { readonly id: string; readonly endpointId: string }[];
}

/** A delivery in the hands of this worker, with what its endpoint is right now. */
export interface TakenDelivery {
  readonly id: string;
  readonly accountId: string;
  readonly endpointId: string;
  readonly eventType: string;
  readonly payload: string;
  /** Including the one about to be made; also what proves later that the delivery is still ours. */
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly url: string;
  readonly secretSealed: Buffer;
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
  `INSERT INTO webhook_deliveries (id, account_id, mode, endpoint_id, event_id, event_type, payload, status,
     max_attempts, next_attempt_at, queued_until, created_at, updated_at)
   SELECT d.id, m.account_id, m.mode, d.endpoint_id, m.event_id, m.event_type, m.payload, 'PENDING',
     $9::int, $10::timestamptz, $11::timestamptz, $10, $10
   FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS d (id, endpoint_id, message)
   JOIN unnest($4::uuid[], $5::text[], $6::uuid[], $7::text[], $8::text[])
     WITH ORDINALITY AS m (account_id, mode, event_id, event_type, payload, number) ON m.number = d.message
   ON CONFLICT (event_id, endpoint_id, event_type) DO NOTHING`,
);
/** Joined with the endpoint as it is now: a delivery to one that was set INACTIVE meanwhile is cancelled instead. */
const TAKE = statement(
  'webhook_deliveries.take',
  `UPDATE webhook_deliveries d SET
     status = CASE e.status WHEN 'ACTIVE' THEN 'PROCESSING' ELSE 'CANCELLED' END,
     attempts = CASE e.status WHEN 'ACTIVE' THEN d.attempts + 1 ELSE d.attempts END,
     next_attempt_at = CASE e.status WHEN 'ACTIVE' THEN $4::timestamptz END,
     last_error = CASE e.status WHEN 'ACTIVE' THEN d.last_error ELSE 'the endpoint is inactive' END,
     queued_until = NULL, updated_at = $3
   FROM webhook_endpoints e
   WHERE d.id = $1 AND e.id = d.endpoint_id AND d.status = 'PENDING' AND d.next_attempt_at <= $2
   RETURNING d.id, d.account_id, d.endpoint_id, d.event_type, d.payload, d.attempts, d.max_attempts, d.status,
     e.url, e.secret_sealed`,
);
const INSERT_ATTEMPT = statement(
  'webhook_attempts.insert',
  `INSERT INTO webhook_attempts (delivery_id, number, account_id, started_at, duration_ms, status_code, error, response_body)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);
/** A worker whose lease ran out no longer decides: the delivery has another number of attempts by then. */
const FINISH = statement(
  'webhook_deliveries.finish',
  `UPDATE webhook_deliveries SET status = $3::text, next_attempt_at = $4, last_status_code = $5, last_error = $6,
     delivered_at = CASE $3::text WHEN 'DELIVERED' THEN $7::timestamptz END, updated_at = $7
   WHERE id = $1 AND status = 'PROCESSING' AND attempts = $2`,
);
/**
 * Workers that died or could not write what came of an attempt. The attempt is repeated, since nobody knows whether it
 * arrived; an interrupted last one once more, and not for ever: a delivery that takes its worker down must end.
 */
const RELEASE = statement(
  'webhook_deliveries.release',
  `UPDATE webhook_deliveries SET
     status = CASE WHEN attempts > max_attempts THEN 'FAILED' ELSE 'PENDING' END,
     next_attempt_at = CASE WHEN attempts > max_attempts THEN NULL ELSE $1::timestamptz END,
     last_status_code = NULL, last_error = 'the attempt was interrupted; its outcome is not known',
     queued_until = NULL, updated_at = $1
   WHERE id IN (
     SELECT id FROM webhook_deliveries WHERE status = 'PROCESSING' AND next_attempt_at <= $1
     ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);
const CLAIM_DUE = statement(
  'webhook_deliveries.claim_due',
  `UPDATE webhook_deliveries SET queued_until = $2 WHERE id IN (
     SELECT id FROM webhook_deliveries
     WHERE status = 'PENDING' AND next_attempt_at <= $1 AND (queued_until IS NULL OR queued_until <= $1)
     ORDER BY next_attempt_at LIMIT $3 FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);

const CANCEL_PENDING = statement(
  'webhook_deliveries.cancel_pending',
  `UPDATE webhook_deliveries SET status = 'CANCELLED', next_attempt_at = NULL, queued_until = NULL,
     last_error = 'the endpoint is inactive', updated_at = $2
   WHERE endpoint_id = $1 AND status = 'PENDING'`,
);

interface TakenRow {
  id: string;
  account_id: string;
  endpoint_id: string;
  event_type: string;
  payload: string;
  attempts: number;
  max_attempts: number;
  status: DeliveryStatus;
  url: string;
  secret_sealed: Buffer;
}

@Injectable()
export class DeliveriesRepository {
  /** Inserts all deliveries of the messages in one statement, due at once; one that exists already is left alone. */
  insert(tx: Tx, messages: readonly Message[], maxAttempts: number, now: Date, queuedUntil: Date): void {
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
      messages.map((message) => message.payload),
      maxAttempts,
      now,
      queuedUntil,
    ]);
  }

  /**
   * PENDING and due by `dueBy` → PROCESSING until `leasedUntil`, or CANCELLED when the endpoint is INACTIVE.
   * @returns null when there is nothing to send: taken by another worker, not due, ended, or cancelled here
   */
  async take(tx: Tx, id: string, times: { dueBy: Date; now: Date; leasedUntil: Date }): Promise<TakenDelivery | null> {
    const [row] = await tx.query<TakenRow>(TAKE, [id, times.dueBy, times.now, times.leasedUntil]);
    if (row?.status !== 'PROCESSING') return null;
    return {
      id: row.id,
      accountId: row.account_id,
      endpointId: row.endpoint_id,
      eventType: row.event_type,
      payload: row.payload,
      attempts: row.attempts,
      maxAttempts: row.max_attempts,
      url: row.url,
      secretSealed: row.secret_sealed,
    };
  }

  insertAttempt(tx: Tx, delivery: TakenDelivery, attempt: Attempt): void {
    tx.defer(INSERT_ATTEMPT, [
      delivery.id,
      delivery.attempts,
      delivery.accountId,
      attempt.startedAt,
      attempt.durationMs,
      attempt.statusCode,
      attempt.error,
      attempt.responseBody,
    ]);
  }

  /** Moves a delivery on, if it is still the attempt of this worker. */
  finish(
    tx: Tx,
    delivery: TakenDelivery,
    to: { status: DeliveryStatus; nextAttemptAt: Date | null },
    attempt: Attempt,
    now: Date,
  ): void {
    tx.defer(FINISH, [
      delivery.id,
      delivery.attempts,
      to.status,
      to.nextAttemptAt,
      attempt.statusCode,
      attempt.error,
      now,
    ]);
  }

  /** What waits for an endpoint that takes nothing any more. */
  cancelPending(tx: Tx, endpointId: string, now: Date): void {
    tx.defer(CANCEL_PENDING, [endpointId, now]);
  }

  /** PROCESSING whose lease is past → PENDING, due now. */
  release(tx: Tx, now: Date, limit: number): void {
    tx.defer(RELEASE, [now, limit]);
  }

  /** Due deliveries that no queue job is taken to exist for; until `queuedUntil` they have one. */
  async claimDue(tx: Tx, now: Date, queuedUntil: Date, limit: number): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(CLAIM_DUE, [now, queuedUntil, limit]);
    return rows.map((row) => row.id);
  }
}
