import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';
import { idBound } from '../core/ids.js';
import type { ActorType, AuditEvent, AuditEventType, AuditFilter } from './audit-event.js';

const INSERT = statement(
  'audit_events.insert',
  `INSERT INTO audit_events
     (id, account_id, type, actor_type, actor_id, api_key_fingerprint, ip, request_id, data, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);
const EXISTS = statement('audit_events.exists', 'SELECT 1 FROM audit_events WHERE account_id = $1 AND id = $2');
const LIST = statement(
  'audit_events.list',
  `SELECT id, type, actor_type, actor_id, api_key_fingerprint, ip, request_id, data, created_at FROM audit_events
   WHERE account_id = $1 AND id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     AND id >= $3::uuid AND id <= $4::uuid
     AND ($5::text IS NULL OR type = $5)
     AND ($6::text IS NULL OR actor_id::text = $6 OR actor_type = $6)
   ORDER BY id DESC LIMIT $7`,
);

interface Row {
  id: string;
  type: AuditEventType;
  actor_type: ActorType;
  actor_id: string | null;
  api_key_fingerprint: string | null;
  ip: string | null;
  request_id: string | null;
  data: Record<string, unknown>;
  created_at: Date;
}

@Injectable()
export class AuditRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, accountId: string | null, event: AuditEvent): void {
    tx.defer(INSERT, [
      event.id,
      accountId,
      event.type,
      event.actor.type,
      event.actor.id,
      event.apiKeyFingerprint,
      event.actor.ip,
      event.actor.requestId,
      event.data,
      event.createdAt,
    ]);
  }

  async exists(accountId: string, id: string): Promise<boolean> {
    return (await this.reader.query(EXISTS, [accountId, id])).length > 0;
  }

  /** Newest first. */
  async list(accountId: string, filter: AuditFilter): Promise<AuditEvent[]> {
    const rows = await this.reader.query<Row>(LIST, [
      accountId,
      filter.before,
      idBound(filter.createdFrom ?? new Date(0), 'min'),
      filter.createdTo ? idBound(filter.createdTo, 'max') : 'ffffffff-ffff-ffff-ffff-ffffffffffff',
      filter.type,
      filter.actor,
      filter.limit,
    ]);
    return rows.map((row) => ({
      id: row.id,
      type: row.type,
      actor: { type: row.actor_type, id: row.actor_id, ip: row.ip, requestId: row.request_id },
      apiKeyFingerprint: row.api_key_fingerprint,
      data: row.data,
      createdAt: row.created_at,
    }));
  }
}
