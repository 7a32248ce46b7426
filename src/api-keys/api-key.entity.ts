import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Mode } from '../core/mode.js';

export class ApiKey {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'api_keys_pkey' }) readonly id!: string;
  @ForeignKey('AccountEntity', { name: 'api_keys_account_id_fkey' })
  @Column('uuid', { name: 'account_id' })
  readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('bytea', { name: 'key_hash' }) readonly keyHash!: Buffer;
  @Column('text') readonly prefix!: string;
  @Column('text', { nullable: true }) readonly label!: string | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}

@Entity('api_keys')
@Unique('api_keys_key_hash_key', ['keyHash'])
@Index('api_keys_account_id_idx', ['accountId', 'id'])
export class ApiKeyEntity extends ApiKey {
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) readonly revokedAt!: Date | null;
}
