import type { IdCursorFilter } from '../core/http/index.js';
import type { Mode } from '../core/mode.js';
import type { Actor, AuditEvent } from './audit-event.entity.js';

export type { Actor, AuditEvent };

/** Types of recorded events. A new kind of change needs its line here. */
export const AUDIT_EVENT_TYPES = [
  'account.created',
  'account.settings_changed',
  'acquirer.callback_rotated',
  'acquirer.configured',
  'acquirer.disconnected',
  'acquirer.fee_set',
  'api_key.issued',
  'api_key.revoked',
  'api_key.rotated',
  'correction.applied',
  'correction.rejected',
  'correction.requested',
  'customer.erased',
  'customer.exported',
  'default_secret.rotated',
  'evidence.completed',
  'evidence.deleted',
  'login.failed',
  'login.succeeded',
  'logout',
  'med_case.accepted',
  'med_case.appealed',
  'med_case.approved',
  'med_case.dismissed',
  'med_case.evidence_requested',
  'member.added',
  'member.invited',
  'member.joined',
  'member.removed',
  'member.role_changed',
  'operator.created',
  'operator.removed',
  'payment.cancelled',
  'payment.created',
  'payment.webhook_resent',
  'refund.requested',
  'report.requested',
  'review.accepted',
  'review.returned',
  'session.ended',
  'user.password_changed',
  'user.password_forgotten',
  'user.renamed',
  'user.totp_removed',
  'user.totp_reset',
  'user.totp_set',
  'webhook_delivery.retried',
  'webhook_endpoint.changed',
  'webhook_endpoint.deleted',
  'webhook_endpoint.recovered',
  'webhook_endpoint.registered',
  'webhook_endpoint.secret_rotated',
] as const;

export type AuditEventType = (typeof AUDIT_EVENT_TYPES)[number];

/**
 * `api_key` is a program of the merchant. `anonymous` has not authenticated (a failed login). `system` is the service
 * itself, as for its demo account.
 */
export type ActorType = 'member' | 'operator' | 'api_key' | 'cli' | 'system' | 'anonymous';

/** Origin of a request; null where there was none. */
export interface Origin {
  readonly ip: string | null;
  readonly requestId: string | null;
}

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
