import { Injectable } from '@nestjs/common';
import { BY_INDEX, claimDue, read, type Tx, valuesOfFields, write } from '../../core/database/index.js';
import type { Scope } from '../../core/mode.js';
import type { EndpointKind } from '../endpoints/endpoint-health.js';
import type { Attempt } from '../log/deliveries.repository.js';
import type { DeliveryStatus } from '../webhook-delivery.entity.js';
import type { EndpointSignature } from '../webhook-endpoint.entity.js';
import type { Ask, Receiver } from './endpoint-slots.js';

/** An endpoint at the time its deliveries were claimed; all deliveries of a claim share one object. */
export interface ClaimedEndpoint extends Scope {
  readonly id: string;
  readonly url: string;
  readonly kind: EndpointKind;
  readonly signature: EndpointSignature;
  /** The endpoint's secret, or the account's default secret for kind `direct`; null when there is none. */
  readonly secretSealed: Buffer | null;
  readonly previousSecretSealed: Buffer | null;
  readonly previousSecretUntil: Date | null;
}

/** A delivery that this worker has claimed. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly endpoint: ClaimedEndpoint;
  readonly eventType: string;
  readonly messageId: string;
  /** The payload of the message, sealed. */
  readonly payload: string;
  /** Since when it has waited, as a timestamp in the database's text format. */
  readonly dueAt: string;
  readonly dueAtMs: number;
  /** Whether it is in the queue of retries and manual resends, not in the queue of new deliveries. */
  readonly isAgain: boolean;
  /** Attempts including the one about to be made. Later this number proves that the delivery is still ours. */
  readonly attempts: number;
  readonly maxAttempts: number;
}

export interface Outcome {
  readonly delivery: ClaimedDelivery;
  readonly attempt: Attempt & { readonly isSigned: boolean };
  readonly status: Extract<DeliveryStatus, 'DELIVERED' | 'PENDING' | 'FAILED'>;
  readonly nextAttemptAt: Date | null;
  readonly endedAt: Date;
}

/** An endpoint with waiting deliveries. */
export interface WaitingEndpoint extends Receiver {
  readonly active: boolean;
  readonly failing: boolean;
  /** When its oldest delivery was due. */
  readonly dueAt: Date;
}

export interface Waiting {
  readonly endpoints: WaitingEndpoint[];
  /** When the first of the other scanned endpoints has something due; null if none has. */
  readonly nextDueAt: Date | null;
  /** Where the next scan starts; null at the end. */
  readonly next: string | null;
}

/** The two queues in which deliveries wait; each has its own index. */
export const LINES = ['fresh', 'again'] as const;

export type Line = (typeof LINES)[number];

const FRESH = `status = 'PENDING' AND attempts = 0 AND NOT manual`;
const AGAIN = `status = 'PENDING' AND (attempts > 0 OR manual)`;

/** Walks from endpoint to endpoint, and reads only the first waiting delivery of each. */
const leap = (name: string, line: string): string => `${name} (endpoint_id, due_at, number) AS (
    (SELECT endpoint_id, next_attempt_at, 1 FROM webhook_deliveries WHERE ${line} AND endpoint_id > $2
     ORDER BY endpoint_id, next_attempt_at LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, next.next_attempt_at, l.number + 1 FROM ${name} l CROSS JOIN LATERAL (
      SELECT endpoint_id, next_attempt_at FROM webhook_deliveries WHERE ${line} AND endpoint_id > l.endpoint_id
      ORDER BY endpoint_id, next_attempt_at LIMIT 1) next
    WHERE l.number < $3)`;

const WAITING = read(
  'webhook_deliveries.waiting',
  `WITH RECURSIVE ${leap('fresh', FRESH)}, ${leap('again', AGAIN)},
   found AS (
     SELECT w.endpoint_id AS "endpointId", e.account_id AS "accountId", w.due_at AS "dueAt", e.status = 'ACTIVE' AS active,
       e.failures > 0 AS failing, greatest(w.due_at, e.paused_until) AS ready_at, w.number = $3 AS is_last,
       e.status <> 'ACTIVE' OR greatest(w.due_at, e.paused_until) <= $1 AS is_due
     FROM (SELECT * FROM fresh UNION ALL SELECT * FROM again) w
     CROSS JOIN LATERAL (
       SELECT account_id, status, failures, paused_until FROM webhook_endpoints WHERE id = w.endpoint_id LIMIT 1) e)
   SELECT * FROM found
   WHERE is_due OR is_last OR ready_at = (SELECT min(ready_at) FROM found WHERE NOT is_due)`,
);

/**
 * Leases use the database's clock: a worker whose clock is ahead would take over deliveries that others are about to
 * send.
 */
const inMs = (parameter: string): string => `now() + make_interval(secs => ${parameter}::float8 / 1000)`;

const due = (line: string, from: string): string => `SELECT id, next_attempt_at FROM webhook_deliveries
       WHERE endpoint_id = o.endpoint_id AND ${line} AND next_attempt_at <= $3 AND next_attempt_at >= o.${from}
       ORDER BY next_attempt_at LIMIT o.allowance FOR UPDATE SKIP LOCKED`;

/**
 * Claims from many endpoints at once, each with its own allowance, so `claimDue` does not fit. Claims alternately from
 * an endpoint's two queues, each by due time: neither old failures nor new deliveries block the other. For endpoints
 * with room for a single delivery, the first queue is random ($6).
 *
 * An endpoint whose pause is over gives a single delivery. The pause is extended ($5), so that no other worker probes
 * it too. Endpoints are locked before deliveries, and nothing here waits for a lock.
 */
const CLAIM = write(
  'webhook_deliveries.claim',
  `WITH asked AS (
     SELECT * FROM unnest($1::uuid[], $2::int[], $7::timestamptz[], $8::timestamptz[])
       AS a (endpoint_id, allowance, fresh_from, again_from)),
   probed AS (
     UPDATE webhook_endpoints SET paused_until = $5::timestamptz WHERE id IN (
       SELECT id FROM webhook_endpoints WHERE id = ANY ($1::uuid[]) AND status = 'ACTIVE' AND paused_until <= $3
       FOR NO KEY UPDATE SKIP LOCKED)
     RETURNING id),
   open AS (
     SELECT a.* FROM asked a JOIN webhook_endpoints e ON e.id = a.endpoint_id
     WHERE e.status = 'ACTIVE' AND e.paused_until IS NULL
     UNION ALL SELECT a.endpoint_id, 1, a.fresh_from, a.again_from FROM asked a JOIN probed p ON p.id = a.endpoint_id),
   taken AS (
     SELECT d.id, d.next_attempt_at AS due_at, d.is_again FROM open o CROSS JOIN LATERAL (
       SELECT id, next_attempt_at, row_number() OVER (ORDER BY next_attempt_at) AS place, $6::boolean AS is_second,
         false AS is_again
       FROM (${due(FRESH, 'fresh_from')}) f
       UNION ALL
       SELECT id, next_attempt_at, row_number() OVER (ORDER BY next_attempt_at), NOT $6, true FROM (${due(AGAIN, 'again_from')}) a
       ORDER BY place, is_second LIMIT o.allowance) d),
   claimed AS (
     UPDATE webhook_deliveries d SET status = 'PROCESSING', attempts = d.attempts + 1, updated_at = $3::timestamptz,
       next_attempt_at = ${inMs('$4')}
     FROM taken t WHERE d.id = t.id
     RETURNING d.id, d.endpoint_id, d.message_id, d.attempts, d.max_attempts, t.due_at, t.is_again)
   SELECT c.id, c.endpoint_id AS "endpointId", c.attempts, c.max_attempts AS "maxAttempts", c.due_at::text AS "dueAt",
     (extract(epoch FROM c.due_at) * 1000)::float8 AS "dueAtMs", c.is_again AS "isAgain",
     m.event_type AS "eventType", m.id AS "messageId", m.payload
   FROM claimed c JOIN webhook_messages m ON m.id = c.message_id`,
);
/** Endpoints of a claim, once each, however many deliveries they have in it. */
const ENDPOINTS = read(
  'webhook_deliveries.endpoints',
  `SELECT e.id, e.account_id AS "accountId", e.mode, e.url, e.kind, e.signature,
     CASE e.kind WHEN 'direct' THEN s.secret_sealed ELSE e.secret_sealed END AS "secretSealed",
     CASE e.kind WHEN 'direct' THEN s.previous_secret_sealed ELSE e.previous_secret_sealed END AS "previousSecretSealed",
     CASE e.kind WHEN 'direct' THEN s.previous_secret_until ELSE e.previous_secret_until END AS "previousSecretUntil"
   FROM webhook_endpoints e
   LEFT JOIN webhook_default_secrets s ON e.kind = 'direct' AND s.account_id = e.account_id AND s.mode = e.mode
   WHERE e.id = ANY ($1::uuid[])`,
);
const HAND_BACK = write(
  'webhook_deliveries.hand_back',
  `UPDATE webhook_deliveries d SET status = 'PENDING', attempts = d.attempts - 1, next_attempt_at = c.due_at, updated_at = $4
   FROM unnest($1::uuid[], $2::int[], $3::timestamptz[]) AS c (id, attempts, due_at)
   WHERE d.id = c.id AND d.status || '' = 'PROCESSING' AND d.attempts = c.attempts`,
);
/**
 * Releases deliveries of workers that died or could not store the outcome. The attempt is repeated, since it may never
 * have arrived. An interrupted last attempt is repeated only once: a delivery that crashes its worker must end.
 */
const RELEASE = claimDue('webhook_deliveries.release', 'webhook_deliveries', {
  dueAt: 'next_attempt_at',
  until: inMs('$3'),
  where: `status = 'PROCESSING'
       AND next_attempt_at >= CASE WHEN $4 THEN '-infinity' ELSE ${inMs('$3')} - interval '1 minute' END`,
  set: `status = CASE WHEN attempts > max_attempts THEN 'FAILED' ELSE 'PENDING' END,
     next_attempt_at = CASE WHEN attempts > max_attempts THEN NULL ELSE $1::timestamptz END,
     last_status_code = NULL, last_error = 'the attempt was interrupted; its outcome is not known', updated_at = $1`,
});
/**
 * Stores the attempts and updates their deliveries. A worker whose lease ran out no longer decides: the delivery's
 * number of attempts has changed. If the endpoint was set INACTIVE meanwhile, a retry becomes CANCELLED.
 *
 * The status is compared as an expression so that no plan searches by it. Otherwise each outcome would read every
 * PROCESSING row and its dead versions. If the answer to the COMMIT was lost, a repeated call finds everything stored
 * already.
 */
const FINISH = write(
  'webhook_deliveries.finish',
  `WITH o AS (
     SELECT * FROM unnest($1::uuid[], $2::int[], $3::text[], $4::timestamptz[], $5::int[], $6::text[], $7::timestamptz[],
       $8::uuid[], $9::timestamptz[], $10::int[], $11::text[])
       AS o (id, attempts, status, next_attempt_at, status_code, error, ended_at, account_id, started_at, duration_ms,
         response_body)),
   finished AS (
     UPDATE webhook_deliveries d SET
       status = CASE WHEN o.status = 'PENDING' AND e.status <> 'ACTIVE' THEN 'CANCELLED' ELSE o.status END,
       next_attempt_at = CASE WHEN o.status = 'PENDING' AND e.status <> 'ACTIVE' THEN NULL ELSE o.next_attempt_at END,
       last_status_code = o.status_code, last_error = o.error,
       delivered_at = CASE o.status WHEN 'DELIVERED' THEN o.ended_at END, updated_at = o.ended_at
     FROM o, webhook_endpoints e
     WHERE d.id = o.id AND d.status || '' = 'PROCESSING' AND d.attempts = o.attempts AND e.id = d.endpoint_id)
   INSERT INTO webhook_attempts (delivery_id, number, account_id, started_at, duration_ms, status_code, error, response_body)
   SELECT id, attempts, account_id, started_at, duration_ms, status_code, error, response_body FROM o
   ON CONFLICT (delivery_id, number) DO NOTHING`,
);

interface WaitingRow extends WaitingEndpoint {
  readonly ready_at: Date;
  readonly is_last: boolean;
  readonly is_due: boolean;
}

/** The queue of deliveries: claims, hands back and finishes them. */
@Injectable()
export class DeliveryQueueRepository {
  /** Makes the planner use indexes; called before the other statements of a transaction. */
  byIndex(tx: Tx): void {
    tx.defer(BY_INDEX, []);
  }

  /**
   * Endpoints with due deliveries that are not paused, and INACTIVE ones with waiting deliveries, in id order.
   * @param after scans `limit` endpoints behind this one, in each queue
   */
  async waiting(tx: Tx, now: Date, after: string, limit: number): Promise<Waiting> {
    const rows = await tx.query<WaitingRow>(WAITING, [now, after, limit]);
    const endpoints = rows
      .filter((row) => row.is_due)
      .map(({ endpointId, accountId, active, failing, dueAt }) => ({ endpointId, accountId, active, failing, dueAt }));
    // The two queues may have reached different endpoints: nothing before the nearer one was skipped.
    const ends = rows.filter((row) => row.is_last).map((row) => row.endpointId);
    const later = rows.filter((row) => !row.is_due).map((row) => row.ready_at);
    const nextDueAt = later.sort((a, b) => a.getTime() - b.getTime())[0] ?? null;
    return { endpoints, nextDueAt, next: ends.sort()[0] ?? null };
  }

  /**
   * PENDING and due → PROCESSING with one attempt more; the oldest first, in each queue from a due time on.
   * @param times `leaseMs` counts from now by the clock of the database
   */
  async claim(
    tx: Tx,
    asks: readonly (Ask & { readonly from: Record<Line, number> })[],
    times: { now: Date; leaseMs: number; probedUntil: Date },
    againFirst: boolean,
  ): Promise<ClaimedDelivery[]> {
    const ids = asks.map((ask) => ask.endpointId);
    const allowances = asks.map((ask) => ask.allowance);
    const { now, leaseMs, probedUntil } = times;
    const rows = await tx.query<Omit<ClaimedDelivery, 'endpoint'> & { endpointId: string }>(CLAIM, [
      ids,
      allowances,
      now,
      leaseMs,
      probedUntil,
      againFirst,
      ...LINES.map((line) => asks.map(({ from }) => new Date(from[line]))),
    ]);
    if (rows.length === 0) return [];
    const found = await tx.query<ClaimedEndpoint>(ENDPOINTS, [ids]);
    const endpoints = new Map(found.map((row) => [row.id, row]));
    const deliveries = rows.map(({ endpointId, ...delivery }): ClaimedDelivery => {
      const endpoint = endpoints.get(endpointId);
      // Endpoints are never removed, only marked as deleted.
      if (!endpoint) throw new Error(`Endpoint ${endpointId} is gone`);
      return { ...delivery, endpoint };
    });
    return deliveries.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Reverts claims whose attempt did not begin. Skips deliveries that were released by their lease meanwhile. */
  handBack(tx: Tx, deliveries: readonly ClaimedDelivery[], now: Date): void {
    this.byIndex(tx);
    tx.defer(HAND_BACK, [...valuesOfFields(deliveries, 'id', 'attempts', 'dueAt'), now]);
  }

  /**
   * PROCESSING with an expired lease → PENDING, due now.
   * @param offsetMs offset of the clock that `now` is from
   * @param isWhole true scans all expired leases; false only the last minute's, which avoids rereading released ones
   */
  release(tx: Tx, now: Date, offsetMs: number, limit: number, isWhole: boolean): void {
    tx.defer(RELEASE, [now, limit, offsetMs, isWhole]);
  }

  /** Updates deliveries that this worker still holds, and stores their attempts. */
  finish(tx: Tx, outcomes: readonly Outcome[]): void {
    const rows = outcomes.map(({ delivery: { id, attempts, endpoint }, attempt, ...outcome }) => {
      return { ...attempt, ...outcome, id, attempts, accountId: endpoint.accountId };
    });
    const parts = [
      valuesOfFields(rows, 'id', 'attempts', 'status', 'nextAttemptAt', 'statusCode', 'error', 'endedAt', 'accountId'),
      valuesOfFields(rows, 'startedAt', 'durationMs', 'responseBody'),
    ];
    tx.defer(FINISH, parts.flat());
  }
}
