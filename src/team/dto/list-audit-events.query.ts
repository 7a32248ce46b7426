import { Matches } from 'class-validator';
import { AUDIT_EVENT_TYPES, type AuditEventType } from '../../audit/index.js';
import { IdCursorQuery, OptionalEnum, OptionalField, ReadsIds } from '../../core/http/index.js';

const ACTOR = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|member|operator|api_key|cli|system|anonymous)$/;

export class ListAuditEventsQuery extends IdCursorQuery {
  @OptionalEnum('Only events of this type.', AUDIT_EVENT_TYPES)
  type?: AuditEventType;

  @OptionalField({
    description:
      'Only what this user did, by id, or what was done by a `member`, `operator`, `api_key`, `cli`, `system` or `anonymous`.',
  })
  @ReadsIds()
  @Matches(ACTOR, { message: 'must be the id of a user, member, operator, api_key, cli, system or anonymous' })
  actor?: string;
}
