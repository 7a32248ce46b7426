import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, Reader, read, type Tx, write } from '../core/database/index.js';
import { idBound, idRange } from '../core/ids.js';
import { AuditEvent, AuditEventEntity } from './audit-event.entity.js';
import type { AuditFilter, WebhookTouched } from './audit-event.js';
import { DAY_MS } from '../core/clock.js';
import { Retained } from '../core/retention.js';

/** A little more than the five years for which the database refuses to delete. */
const KEPT_MS = 5 * 366 * DAY_MS;

const INSERT = insertInto('audit_events.insert', AuditEventEntity);
const EXISTS = read('audit_events.exists', 'SELECT 1 FROM audit_events WHERE account_id = $1 AND id = $2');
const LIST = read(
  'audit_events.list',
  `SELECT ${columnsOf(AuditEvent, 'audit_events')} FROM audit_events
   WHERE account_id = $1 AND id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     AND id >= $3::uuid AND id <= $4::uuid
     AND ($5::text IS NULL OR type = $5)
     AND ($6::text IS NULL OR actor_id::text = $6 OR actor_type = $6)
   ORDER BY id DESC LIMIT $7`,
);
const WEBHOOKS_TOUCHED_BY = read(
  'audit_events.webhooks_touched_by',
  `SELECT data->>'mode' AS mode, data->>'endpoint_id' AS "endpointId",
     (array_agg(data->>'host' ORDER BY id DESC) FILTER (WHERE data ? 'host'))[1] AS host,
     max(created_at) FILTER (WHERE actor_id = $2) AS "lastAt"
   FROM audit_events
   WHERE account_id = $1 AND type IN ('webhook_endpoint.registered', 'webhook_endpoint.changed',
     'webhook_endpoint.secret_rotated', 'webhook_endpoint.deleted', 'default_secret.rotated')
   GROUP BY 1, 2
   HAVING bool_or(actor_id = $2) AND bool_and(type <> 'webhook_endpoint.deleted')
   ORDER BY "lastAt", "endpointId"`,
);
const REMOVE = write('audit_events.remove', 'SELECT audit_events_remove($1::uuid, $2) AS removed');

@Injectable()
export class AuditRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, accountId: string | null, event: AuditEvent): void {
    tx.defer(INSERT, INSERT.valuesOf({ ...event, accountId }));
  }

  async exists(accountId: string, id: string): Promise<boolean> {
    return (await this.reader.query(EXISTS, [accountId, id])).length > 0;
  }

  /**
   * Oldest first, without endpoints that were deleted since. Changes by an API key name no user, so they are left out.
   */
  async webhooksTouchedBy(tx: Tx, accountId: string, userId: string): Promise<WebhookTouched[]> {
    return tx.query(WEBHOOKS_TOUCHED_BY, [accountId, userId]);
  }

  /**
   * Removes events older than `before`, by a function of the tables' owner, which keeps five years.
   * @returns how many
   */
  @Retained('audit_events', KEPT_MS)
  async remove(tx: Tx, before: Date, limit: number): Promise<number> {
    const [row] = await tx.query<{ removed: number }>(REMOVE, [idBound(before, 'min'), limit]);
    return row?.removed ?? 0;
  }

  /** Newest first. */
  async list(accountId: string, filter: AuditFilter): Promise<AuditEvent[]> {
    return this.reader.query(LIST, [
      accountId,
      filter.before,
      ...idRange(filter.createdFrom, filter.createdTo),
      filter.type,
      filter.actor,
      filter.limit,
    ]);
  }
}
