import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { EndpointKind } from './endpoints/endpoint-health.js';

export const ENDPOINT_STATUSES = ['ACTIVE', 'INACTIVE'] as const;

/** `standard`: the headers of Standard Webhooks beside ours. */
export const ENDPOINT_SIGNATURES = ['default', 'standard'] as const;

export type EndpointSignature = (typeof ENDPOINT_SIGNATURES)[number];

export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

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
  @Column('text', { default: 'default' }) readonly signature!: EndpointSignature;
}
