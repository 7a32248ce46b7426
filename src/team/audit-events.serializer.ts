import type { AuditEvent } from '../audit/index.js';
import type { AuditEventBody } from './dto/audit-event.body.js';

/** @param emails of members by user id; users are never deleted, so who left is still named */
export function auditEventBody(event: AuditEvent, emails: ReadonlyMap<string, string>): AuditEventBody {
  const { actor } = event;
  return {
    id: event.id,
    object: 'audit_event',
    type: event.type,
    actor: { type: actor.type, id: actor.id, email: actor.id === null ? null : (emails.get(actor.id) ?? null) },
    api_key_fingerprint: event.apiKeyFingerprint,
    ip: actor.ip,
    request_id: actor.requestId,
    data: event.data,
    created_at: event.createdAt.toISOString(),
  };
}
