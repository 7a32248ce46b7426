import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { ActorType, AuditEventType, Origin } from './audit-event.js';

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
