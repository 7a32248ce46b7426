import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** Append-only, by a trigger. */
@Entity('audit_events')
@Index('audit_events_account_id_idx', ['accountId', 'id'])
export class AuditEventEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'audit_events_pkey' }) id!: string;
  @ForeignKey('AccountEntity', { name: 'audit_events_account_id_fkey' })
  @Column('uuid', { name: 'account_id', nullable: true })
  accountId!: string | null;
  @Column('text') type!: string;
  @Column('text', { name: 'actor_type' }) actorType!: string;
  @Column('uuid', { name: 'actor_id', nullable: true }) actorId!: string | null;
  @Column('text', { name: 'api_key_fingerprint', nullable: true }) apiKeyFingerprint!: string | null;
  @Column('text', { nullable: true }) ip!: string | null;
  @Column('text', { name: 'request_id', nullable: true }) requestId!: string | null;
  @Column('jsonb') data!: object;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
