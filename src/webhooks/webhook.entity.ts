import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Personal, Sealed } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { EndpointKind } from './endpoints/endpoint-health.js';

export const ENDPOINT_STATUSES = ['ACTIVE', 'INACTIVE'] as const;

export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** Source: docs/contract.md#delivery-status. */
export const DELIVERY_STATUSES = ['PENDING', 'PROCESSING', 'DELIVERED', 'FAILED', 'CANCELLED'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

@NotPersonal('addresses and secrets of merchants')
@Entity('webhook_endpoints')
export class WebhookEndpointEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'webhook_endpoints_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' })
  readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('text') readonly url!: string;
  @Column('text', { array: true }) readonly events!: readonly string[];
  @Sealed(`'webhook_endpoint:' || id`)
  @Column('bytea', { name: 'secret_sealed' })
  readonly secretSealed!: Buffer;
  @Column('text') readonly status!: EndpointStatus;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
  @Column('text', { default: 'registered' }) readonly kind!: EndpointKind;
  @Sealed(`'webhook_endpoint:' || id`)
  @Column('bytea', { name: 'previous_secret_sealed', nullable: true })
  readonly previousSecretSealed!: Buffer | null;
  @Column('timestamptz', { name: 'previous_secret_until', nullable: true }) readonly previousSecretUntil!: Date | null;
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) readonly deletedAt!: Date | null;
  @Column('integer', { default: 0 }) readonly failures!: number;
  @Column('timestamptz', { name: 'failing_since', nullable: true }) readonly failingSince!: Date | null;
  @Column('timestamptz', { name: 'paused_until', nullable: true }) readonly pausedUntil!: Date | null;
}

@NotPersonal('secrets of merchants')
@Entity('webhook_default_secrets')
export class WebhookDefaultSecretEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'webhook_default_secrets_pkey' })
  readonly accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'webhook_default_secrets_pkey' }) readonly mode!: Mode;
  @Sealed(`'webhook_default_secret:' || account_id || ':' || mode`)
  @Column('bytea', { name: 'secret_sealed' })
  readonly secretSealed!: Buffer;
  @Sealed(`'webhook_default_secret:' || account_id || ':' || mode`)
  @Column('bytea', { name: 'previous_secret_sealed', nullable: true })
  readonly previousSecretSealed!: Buffer | null;
  @Column('timestamptz', { name: 'previous_secret_until', nullable: true }) readonly previousSecretUntil!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
}

/** The sent body of a public event, shared by all its receivers. Never changed. */
@Entity('webhook_messages')
export class WebhookMessageEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'webhook_messages_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('uuid', { name: 'event_id' }) readonly eventId!: string;
  @NotPersonal('the name of an event')
  @Column('text', { name: 'event_type' })
  readonly eventType!: string;
  /** Requested by hand: created whatever was delivered before. Otherwise an event has one message for each name. */
  @Column('boolean') readonly manual!: boolean;
  /** Sealed: it names the payer. */
  @Personal({ isCopy: true })
  @Sealed(`'webhook_message:' || id`)
  @Column('text')
  readonly payload!: string;
  @Column('uuid', { name: 'delivery_ids', array: true }) readonly deliveryIds!: readonly string[];
}

/** Delivery of a message to one endpoint. */
@NotPersonal('the name of an event, and our own words about an attempt')
@Entity('webhook_deliveries')
export class WebhookDeliveryEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'webhook_deliveries_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('uuid', { name: 'endpoint_id' })
  readonly endpointId!: string;
  /** The statement that writes the message writes this row too, so there is no foreign key. */
  @Column('uuid', { name: 'message_id' }) readonly messageId!: string;
  @Column('text', { name: 'event_type' }) readonly eventType!: string;
  @Column('uuid', { name: 'subject_id' }) readonly subjectId!: string;
  @Column('boolean', { default: false }) readonly manual!: boolean;
  @Column('text') readonly status!: DeliveryStatus;
  @Column('integer', { default: 0 }) readonly attempts!: number;
  @Column('integer', { name: 'max_attempts' }) readonly maxAttempts!: number;
  /** PENDING: when the next attempt is due. PROCESSING: the end of its worker's lease. */
  @Column('timestamptz', { name: 'next_attempt_at', nullable: true }) readonly nextAttemptAt!: Date | null;
  @Column('integer', { name: 'last_status_code', nullable: true }) readonly lastStatusCode!: number | null;
  @Column('text', { name: 'last_error', nullable: true }) readonly lastError!: string | null;
  @Column('timestamptz', { name: 'delivered_at', nullable: true }) readonly deliveredAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
}

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
