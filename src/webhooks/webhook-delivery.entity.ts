import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';

/** Source: docs/contract.md#delivery-status. */
export const DELIVERY_STATUSES = ['PENDING', 'PROCESSING', 'DELIVERED', 'FAILED', 'CANCELLED'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

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
