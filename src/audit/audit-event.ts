import type { IdCursorFilter } from '../core/http/index.js';
import type { Mode } from '../core/mode.js';
import type { Actor, AuditEvent, AuditEventType } from './audit-event.entity.js';

export type { Actor, AuditEvent };

/** The command line: a person with a shell on the server. */
export const CLI: Actor = { type: 'cli', id: null, ip: null, requestId: null };
export const SYSTEM: Actor = { type: 'system', id: null, ip: null, requestId: null };

/** A webhook endpoint that a user registered, changed or gave a new secret; or a default secret that they rotated. */
export interface WebhookTouched {
  readonly mode: Mode;
  /** Null: the default secret of the mode. */
  readonly endpointId: string | null;
  /** Last known host of the endpoint, as far as the trail goes back; null for a default secret. */
  readonly host: string | null;
  /** Time of the user's last change. */
  readonly lastAt: Date;
}

export interface AuditFilter extends IdCursorFilter {
  readonly type: AuditEventType | null;
  /** A user's id, or a type of actor. */
  readonly actor: string | null;
}
