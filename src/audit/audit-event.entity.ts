import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';

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
  'payment.note_added',
  'payment.note_deleted',
  'payment.webhook_resent',
  'payment_link.changed',
  'payment_link.created',
  'payment_link.ended',
  'payout.approved',
  'payout.cancelled',
  'payout.disapproved',
  'payout.requested',
  'payout.resolved',
  'payout_destination.approved',
  'payout_destination.deleted',
  'payout_destination.saved',
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

/** The actor of an event, and the origin of the request. */
@NotPersonal('people of merchants')
export class Actor implements Origin {
  @Column('text', { name: 'actor_type' }) readonly type!: ActorType;
  /** The fingerprint of the key with which an `api_key` acts. */
  readonly apiKeyFingerprint?: string;
  /** The id of a user; null for other actors. */
  @Column('uuid', { name: 'actor_id', nullable: true }) readonly id!: string | null;
  @Column('text', { nullable: true }) readonly ip!: string | null;
  @Column('text', { name: 'request_id', nullable: true }) readonly requestId!: string | null;
}

@NotPersonal('who of the merchant did what: ids and counts, kept as proof')
export class AuditEvent {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'audit_events_pkey' }) readonly id!: string;
  @Column('text') readonly type!: AuditEventType;
  @Column(() => Actor, { prefix: false }) readonly actor!: Actor;
  @Column('text', { name: 'api_key_fingerprint', nullable: true }) readonly apiKeyFingerprint!: string | null;
  @Column('jsonb') readonly data!: Readonly<Record<string, unknown>>;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}

/** Append-only, by a trigger. */
@NotPersonal('who of the merchant did what: ids and counts, kept as proof')
@Entity('audit_events')
export class AuditEventEntity extends AuditEvent {
  @Column('uuid', { name: 'account_id', nullable: true })
  readonly accountId!: string | null;
}
