import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Personal } from '../core/database/index.js';

@Entity('webhook_attempts')
export class WebhookAttemptEntity {
  @PrimaryColumn('uuid', { name: 'delivery_id', primaryKeyConstraintName: 'webhook_attempts_pkey' })
  readonly deliveryId!: string;
  @PrimaryColumn('integer', { primaryKeyConstraintName: 'webhook_attempts_pkey' }) readonly number!: number;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('timestamptz', { name: 'started_at' }) readonly startedAt!: Date;
  @Column('integer', { name: 'duration_ms' }) readonly durationMs!: number;
  @Column('integer', { name: 'status_code', nullable: true }) readonly statusCode!: number | null;
  @NotPersonal('our own words about an attempt')
  @Column('text', { nullable: true })
  readonly error!: string | null;
  @Personal()
  @Column('text', { name: 'response_body', nullable: true })
  readonly responseBody!: string | null;
}
