import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../../core/database/index.js';

@NotPersonal('credentials of merchants')
@Entity('acquirer_connections')
export class AcquirerConnectionEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'acquirer_connections_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' })
  readonly accountId!: string;
  /** Name of the PSP profile. */
  @Column('text') readonly profile!: string;
  /**
   * The Pix key of the charges. (profile, Pix key) identifies a connection: configuring it again renews its
   * credentials.
   */
  @Column('text', { name: 'pix_key' }) readonly pixKey!: string;
  /** Replaces the profile's URL, for example for a PSP's homologation; null: the profile's. No slash at the end. */
  @Column('text', { name: 'base_url', nullable: true }) readonly baseUrl!: string | null;
  @Column('text', { name: 'token_url', nullable: true }) readonly tokenUrl!: string | null;
  @Sealed(`'acquirer_connection:' || id`)
  @Column('bytea', { name: 'credentials_sealed' })
  readonly credentialsSealed!: Buffer;
  @Column('text', { name: 'certificate_fingerprint', nullable: true }) readonly certificateFingerprint!: string | null;
  @Column('timestamptz', { name: 'certificate_expires_at', nullable: true })
  readonly certificateExpiresAt!: Date | null;
  @Column('integer', { name: 'certificate_warned_days', nullable: true }) readonly certificateWarnedDays!:
    number | null;
  /** Changes with every change of the connection: clients made from an older version are replaced. */
  @Column('integer') readonly version!: number;
  /** The number of the secret in the address of its callbacks. */
  @Column('integer', { name: 'callback_secret', default: 1 }) readonly callbackSecret!: number;
  /** The oldest secret that is still valid. Differs from the newest until the newest is registered at the PSP. */
  @Column('integer', { name: 'oldest_callback_secret', default: 1 }) readonly oldestCallbackSecret!: number;
  @Column('timestamptz', { name: 'webhook_registered_at', nullable: true }) readonly webhookRegisteredAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
}
