import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** Append-only, by a trigger. */
@Entity('audit_events')
@Index('audit_events_account_id_idx', ['accountId', 'id'])
export class AuditEventEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'audit_events_pkey' }) readonly id!: string;
  @ForeignKey('AccountEntity', { name: 'audit_events_account_id_fkey' })
  @Column('uuid', { name: 'account_id', nullable: true })
  readonly accountId!: string | null;
  @Column('text') readonly type!: string;
  @Column('text', { name: 'actor_type' }) readonly actorType!: string;
  @Column('uuid', { name: 'actor_id', nullable: true }) readonly actorId!: string | null;
  @Column('text', { name: 'api_key_fingerprint', nullable: true }) readonly apiKeyFingerprint!: string | null;
  @Column('text', { nullable: true }) readonly ip!: string | null;
  @Column('text', { name: 'request_id', nullable: true }) readonly requestId!: string | null;
  @Column('jsonb') readonly data!: object;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}
