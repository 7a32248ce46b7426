import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('api_keys')
@Unique('api_keys_key_hash_key', ['keyHash'])
@Index('api_keys_account_id_idx', ['accountId', 'id'])
export class ApiKeyEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'api_keys_pkey' }) id!: string;
  @ForeignKey('AccountEntity', { name: 'api_keys_account_id_fkey' })
  @Column('uuid', { name: 'account_id' })
  accountId!: string;
  @Column('text') mode!: string;
  @Column('bytea', { name: 'key_hash' }) keyHash!: Buffer;
  @Column('text') prefix!: string;
  @Column('text', { nullable: true }) label!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) revokedAt!: Date | null;
}
