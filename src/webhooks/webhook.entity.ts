import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('webhook_endpoints')
@Index('webhook_endpoints_account_id_idx', ['accountId', 'mode', 'id'])
export class WebhookEndpointEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'webhook_endpoints_pkey' }) id!: string;
  @ForeignKey('AccountEntity', { name: 'webhook_endpoints_account_id_fkey' })
  @Column('uuid', { name: 'account_id' })
  accountId!: string;
  @Column('text') mode!: string;
  @Column('text') url!: string;
  @Column('text', { array: true }) events!: string[];
  @Column('bytea', { name: 'secret_sealed' }) secretSealed!: Buffer;
  @Column('text') status!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('webhook_deliveries')
@Unique('webhook_deliveries_event_key', ['eventId', 'endpointId', 'eventType'])
@Index('webhook_deliveries_due_idx', ['nextAttemptAt'], { where: `status IN ('PENDING', 'PROCESSING')` })
@Index('webhook_deliveries_endpoint_idx', ['endpointId'], { where: `status = 'PENDING'` })
@Index('webhook_deliveries_list_idx', ['accountId', 'mode', 'id'])
export class WebhookDeliveryEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'webhook_deliveries_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @ForeignKey('WebhookEndpointEntity', { name: 'webhook_deliveries_endpoint_id_fkey' })
  @Column('uuid', { name: 'endpoint_id' })
  endpointId!: string;
  @Column('uuid', { name: 'event_id' }) eventId!: string;
  @Column('text', { name: 'event_type' }) eventType!: string;
  @Column('text') payload!: string;
  @Column('text') status!: string;
  @Column('integer', { default: 0 }) attempts!: number;
  @Column('integer', { name: 'max_attempts' }) maxAttempts!: number;
  @Column('timestamptz', { name: 'next_attempt_at', nullable: true }) nextAttemptAt!: Date | null;
  @Column('timestamptz', { name: 'queued_until', nullable: true }) queuedUntil!: Date | null;
  @Column('integer', { name: 'last_status_code', nullable: true }) lastStatusCode!: number | null;
  @Column('text', { name: 'last_error', nullable: true }) lastError!: string | null;
  @Column('timestamptz', { name: 'delivered_at', nullable: true }) deliveredAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('webhook_attempts')
export class WebhookAttemptEntity {
  @ForeignKey('WebhookDeliveryEntity', { name: 'webhook_attempts_delivery_id_fkey' })
  @PrimaryColumn('uuid', { name: 'delivery_id', primaryKeyConstraintName: 'webhook_attempts_pkey' })
  deliveryId!: string;
  @PrimaryColumn('integer', { primaryKeyConstraintName: 'webhook_attempts_pkey' }) number!: number;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('timestamptz', { name: 'started_at' }) startedAt!: Date;
  @Column('integer', { name: 'duration_ms' }) durationMs!: number;
  @Column('integer', { name: 'status_code', nullable: true }) statusCode!: number | null;
  @Column('text', { nullable: true }) error!: string | null;
  @Column('text', { name: 'response_body', nullable: true }) responseBody!: string | null;
}
