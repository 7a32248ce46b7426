import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Partitioned by day: the migration makes the parent, the recorder its partitions. */
@Entity('request_logs')
@Index('request_logs_key_idx', ['accountId', 'apiKeyFingerprint', 'createdAt', 'id'])
@Index('request_logs_request_id_idx', ['accountId', 'requestId'])
@Index('request_logs_errors_idx', ['accountId', 'status', 'createdAt', 'id'], { where: 'status >= 400' })
export class RequestLogEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'request_logs_pkey' }) readonly id!: string;
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'request_logs_pkey' }) readonly accountId!: string;
  @Column('text', { nullable: true }) readonly mode!: string | null;
  @Column('text', { name: 'request_id' }) readonly requestId!: string;
  @Column('text', { name: 'api_key_fingerprint', nullable: true }) readonly apiKeyFingerprint!: string | null;
  @Column('uuid', { name: 'user_id', nullable: true }) readonly userId!: string | null;
  @Column('text') readonly method!: string;
  @Column('text') readonly route!: string;
  @Column('text') readonly path!: string;
  @Column('integer') readonly status!: number;
  @Column('text', { name: 'error_code', nullable: true }) readonly errorCode!: string | null;
  @Column('integer', { name: 'duration_ms' }) readonly durationMs!: number;
  @Column('text', { nullable: true }) readonly ip!: string | null;
  @PrimaryColumn('timestamptz', { name: 'created_at', primaryKeyConstraintName: 'request_logs_pkey' }) readonly createdAt!: Date;
}
