import { Injectable } from '@nestjs/common';
import { columnsOf, type Tx, valuesOfFields, write } from '../../core/database/index.js';
import type { Mode } from '../../core/mode.js';
import { WebhookEndpointEntity } from '../webhook-endpoint.entity.js';
import { DISABLE_AFTER_MS, DISABLE_FAILURES, type Health } from './endpoint-health.js';

const HEALTH = ['id', 'accountId', 'kind', 'url', 'failures', 'failingSince', 'pausedUntil'] as const;

export type EndpointHealth = Pick<WebhookEndpointEntity, (typeof HEALTH)[number]>;

export interface DisabledEndpoint {
  readonly url: string;
  readonly mode: Mode;
  readonly failures: number;
  readonly failingSince: Date;
}

/** Sorted, so that two workers never wait for each other. Skips healthy endpoints without a failure in this batch. */
const LOCK = write(
  'webhook_endpoints.lock_health',
  `SELECT ${columnsOf(WebhookEndpointEntity, 'webhook_endpoints', { only: HEALTH })} FROM webhook_endpoints
   WHERE id = ANY ($1::uuid[]) AND status = 'ACTIVE'
     AND (id = ANY ($2::uuid[]) OR failures > 0 OR paused_until IS NOT NULL)
   ORDER BY id FOR NO KEY UPDATE`,
);
const UPDATE = write(
  'webhook_endpoints.update_health',
  `UPDATE webhook_endpoints e SET failures = h.failures, failing_since = h.failing_since, paused_until = h.paused_until
   FROM unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::timestamptz[]) AS h (id, failures, failing_since, paused_until)
   WHERE e.id = h.id`,
);
const DEACTIVATE = write(
  'webhook_endpoints.deactivate',
  `UPDATE webhook_endpoints SET status = 'INACTIVE', updated_at = $2 WHERE id = $1 AND status = 'ACTIVE'`,
);
const DISABLE = write(
  'webhook_endpoints.disable',
  `UPDATE webhook_endpoints SET status = 'INACTIVE', updated_at = $2
   WHERE id = $1 AND kind = 'registered' AND status = 'ACTIVE' AND failures >= $3 AND failing_since <= $4
   RETURNING url, mode, failures, failing_since AS "failingSince"`,
);

/** Reads and writes the health columns of endpoints, which only the workers change. */
@Injectable()
export class EndpointHealthRepository {
  /**
   * Returns the active endpoints of `ids` that are failing already or listed in `failed`. Locks them; deliveries are
   * locked after endpoints.
   */
  async lock(tx: Tx, ids: readonly string[], failed: readonly string[]): Promise<EndpointHealth[]> {
    return tx.query(LOCK, [ids, failed]);
  }

  update(tx: Tx, changes: readonly (Health & { readonly id: string })[]): void {
    tx.defer(UPDATE, valuesOfFields(changes, 'id', 'failures', 'failingSince', 'pausedUntil'));
  }

  /** Sets an endpoint INACTIVE; the caller holds its lock. */
  deactivate(tx: Tx, id: string, now: Date): void {
    tx.defer(DEACTIVATE, [id, now]);
  }

  /** @returns null when another worker has disabled it already, or when it works again. Locks it. */
  async disable(tx: Tx, id: string, now: Date): Promise<DisabledEndpoint | null> {
    const cutoff = new Date(now.getTime() - DISABLE_AFTER_MS);
    return tx.first<DisabledEndpoint>(DISABLE, [id, now, DISABLE_FAILURES, cutoff]);
  }
}
