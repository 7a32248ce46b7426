import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('idempotency_keys')
@Index('idempotency_keys_expires_at_idx', ['expiresAt'])
export class IdempotencyKeyEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'idempotency_keys_pkey' }) accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'idempotency_keys_pkey' }) mode!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'idempotency_keys_pkey' }) operation!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'idempotency_keys_pkey' }) key!: string;
  @Column('bytea') fingerprint!: Buffer;
  @Column('uuid', { name: 'resource_id' }) resourceId!: string;
  @Column('smallint', { name: 'response_status', nullable: true }) responseStatus!: number | null;
  @Column('text', { name: 'response_body', nullable: true }) responseBody!: string | null;
  @Column('timestamptz', { name: 'leased_until' }) leasedUntil!: Date;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
}
