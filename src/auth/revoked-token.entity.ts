import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('revoked_tokens')
@Index('revoked_tokens_expires_at_idx', ['expiresAt'])
export class RevokedTokenEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'revoked_tokens_pkey' }) readonly jti!: string;
  @Column('timestamptz', { name: 'expires_at' }) readonly expiresAt!: Date;
}
