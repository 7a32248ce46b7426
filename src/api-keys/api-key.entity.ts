import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';

@NotPersonal('keys of merchants')
export class ApiKey {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'api_keys_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' })
  readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('bytea', { name: 'key_hash' }) readonly keyHash!: Buffer;
  @Column('text') readonly prefix!: string;
  @Column('text', { nullable: true }) readonly label!: string | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  /** The member or operator who issued or last rotated it; null for the command line, and for keys from before this was kept. */
  @Column('uuid', { name: 'issued_by', nullable: true }) readonly issuedBy!: string | null;
  /** From then on the key does not work; null: it works until it is revoked. */
  @Column('timestamptz', { name: 'expires_at', nullable: true }) readonly expiresAt!: Date | null;
  /** Addresses and networks (CIDR) that it works from; none: from everywhere. */
  @Column('text', { name: 'allowed_ips', array: true, default: [] }) readonly allowedIps!: readonly string[];
  /** The hour, begun, of its last use. */
  @Column('timestamptz', { name: 'last_used_at', nullable: true }) readonly lastUsedAt!: Date | null;
}

@NotPersonal('keys of merchants')
@Entity('api_keys')
export class ApiKeyEntity extends ApiKey {
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) readonly revokedAt!: Date | null;
}
