import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('acquirer_connections')
@Unique('acquirer_connections_pix_key_key', ['profile', 'pixKey'])
@Index('acquirer_connections_account_id_idx', ['accountId'])
export class AcquirerConnectionEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'acquirer_connections_pkey' }) id!: string;
  @ForeignKey('AccountEntity', { name: 'acquirer_connections_account_id_fkey' })
  @Column('uuid', { name: 'account_id' })
  accountId!: string;
  @Column('text') profile!: string;
  @Column('text', { name: 'pix_key' }) pixKey!: string;
  @Column('text', { name: 'base_url', nullable: true }) baseUrl!: string | null;
  @Column('text', { name: 'token_url', nullable: true }) tokenUrl!: string | null;
  @Column('bytea', { name: 'credentials_sealed' }) credentialsSealed!: Buffer;
  @Column('text', { name: 'certificate_fingerprint', nullable: true }) certificateFingerprint!: string | null;
  @Column('timestamptz', { name: 'certificate_expires_at', nullable: true }) certificateExpiresAt!: Date | null;
  @Column('integer', { name: 'certificate_warned_days', nullable: true }) certificateWarnedDays!: number | null;
  @Column('integer') version!: number;
  @Column('timestamptz', { name: 'webhook_registered_at', nullable: true }) webhookRegisteredAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
