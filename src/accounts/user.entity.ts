import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../core/database/index.js';

@NotPersonal('people of merchants')
@Entity('users')
export class UserEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'users_pkey' }) readonly id!: string;
  @Column('text') readonly email!: string;
  @Column('text') readonly name!: string;
  @Column('text', { name: 'password_hash', nullable: true }) readonly passwordHash!: string | null;
  @Column('boolean', { default: false }) readonly operator!: boolean;
  /** The secret of the one-time codes (TOTP), in base32, sealed. */
  @Sealed(`'totp:' || id`)
  @Column('bytea', { name: 'totp_secret_sealed', nullable: true })
  readonly totpSecretSealed!: Buffer | null;
  /** Since when a login needs a code. Null: no code is needed, though a secret may wait for its first code. */
  @Column('timestamptz', { name: 'totp_confirmed_at', nullable: true }) readonly totpConfirmedAt!: Date | null;
  /** The 30-second step, counted from 1970, of the last accepted code. */
  @Column('integer', { name: 'totp_step', nullable: true }) readonly totpStep!: number | null;
  /** SHA-256 of the unused recovery codes. */
  @Column('bytea', { name: 'recovery_code_hashes', array: true, default: [] })
  readonly recoveryCodeHashes!: readonly Buffer[];
  /** Time of the last mail that warned about failed logins. */
  @Column('timestamptz', { name: 'warned_at', nullable: true }) readonly warnedAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}
