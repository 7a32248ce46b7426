import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../database/index.js';

/** A key of ENCRYPTION_KEY that something is sealed under. */
@NotPersonal('keys of the service')
@Entity('encryption_keys')
export class EncryptionKeyEntity {
  @PrimaryColumn('text', { name: 'key_id', primaryKeyConstraintName: 'encryption_keys_pkey' }) readonly id!: string;
  /** A text that the key has sealed; null where the key was lost before there was one. */
  @Column('bytea', { nullable: true }) readonly canary!: Buffer | null;
  @Column('timestamptz', { name: 'created_at', default: () => 'now()' }) readonly createdAt!: Date;
  /** When an operator gave up what it had sealed. */
  @Column('timestamptz', { name: 'lost_at', nullable: true }) readonly lostAt!: Date | null;
}
