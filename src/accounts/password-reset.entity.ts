import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';

/** The reset of a forgotten password: at most one for a user. */
@NotPersonal('people of merchants')
@Entity('password_resets')
export class PasswordResetEntity {
  @PrimaryColumn('uuid', { name: 'user_id', primaryKeyConstraintName: 'password_resets_pkey' })
  readonly userId!: string;
  @Column('bytea', { name: 'token_hash' }) readonly tokenHash!: Buffer;
  @Column('timestamptz', { name: 'expires_at' }) readonly expiresAt!: Date;
}
