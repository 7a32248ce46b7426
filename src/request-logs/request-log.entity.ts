import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';

/**
 * An answered request of a known account. Partitioned by day: the migration makes the parent, the recorder its
 * partitions.
 */
@NotPersonal('requests of merchants without query and body; gone after their retention')
@Entity('request_logs')
export class RequestLogEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'request_logs_pkey' }) readonly id!: string;
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'request_logs_pkey' })
  readonly accountId!: string;
  /** Null for a person at the dashboard, who sees both modes. */
  @Column('text', { nullable: true }) readonly mode!: Mode | null;
  @Column('text', { name: 'request_id' }) readonly requestId!: string;
  /** The fingerprint of the key that called; null for a person. */
  @Column('text', { name: 'api_key_fingerprint', nullable: true }) readonly apiKeyFingerprint!: string | null;
  /** The person who called; null for a key. */
  @Column('uuid', { name: 'user_id', nullable: true }) readonly userId!: string | null;
  @Column('text') readonly method!: string;
  /** The route with its parameters, like `/v1/charges/:id`. */
  @Column('text') readonly route!: string;
  /** The route with its ids, without query. */
  @Column('text') readonly path!: string;
  @Column('integer') readonly status!: number;
  @Column('text', { name: 'error_code', nullable: true }) readonly errorCode!: string | null;
  @Column('integer', { name: 'duration_ms' }) readonly durationMs!: number;
  @Column('text', { nullable: true }) readonly ip!: string | null;
  /** When the request arrived. */
  @PrimaryColumn('timestamptz', { name: 'created_at', primaryKeyConstraintName: 'request_logs_pkey' })
  readonly createdAt!: Date;
}
