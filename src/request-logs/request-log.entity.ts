import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Partitioned by day: the migration makes the parent, the recorder its partitions. */
@Entity('request_logs')
@Index('request_logs_key_idx', ['accountId', 'apiKeyFingerprint', 'createdAt', 'id'])
@Index('request_logs_request_id_idx', ['accountId', 'requestId'])
@Index('request_logs_errors_idx', ['accountId', 'status', 'createdAt', 'id'], { where: 'status >= 400' })
export class RequestLogEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'request_logs_pkey' }) id!: string;
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'request_logs_pkey' }) accountId!: string;
  @Column('text', { nullable: true }) mode!: string | null;
  @Column('text', { name: 'request_id' }) requestId!: string;
  @Column('text', { name: 'api_key_fingerprint', nullable: true }) apiKeyFingerprint!: string | null;
  @Column('uuid', { name: 'user_id', nullable: true }) userId!: string | null;
  @Column('text') method!: string;
  @Column('text') route!: string;
  @Column('text') path!: string;
  @Column('integer') status!: number;
  @Column('text', { name: 'error_code', nullable: true }) errorCode!: string | null;
  @Column('integer', { name: 'duration_ms' }) durationMs!: number;
  @Column('text', { nullable: true }) ip!: string | null;
  @PrimaryColumn('timestamptz', { name: 'created_at', primaryKeyConstraintName: 'request_logs_pkey' }) createdAt!: Date;
}
