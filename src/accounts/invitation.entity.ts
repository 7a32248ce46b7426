import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Role } from './role.js';

/** An invitation to become a member, once the invited person accepts. */
@NotPersonal('people of merchants')
@Entity('invitations')
export class InvitationEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'invitations_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' })
  readonly accountId!: string;
  @Column('text') readonly email!: string;
  @Column('text') readonly name!: string;
  @Column('text') readonly role!: Role;
  @Column('bytea', { name: 'token_hash' }) readonly tokenHash!: Buffer;
  @Column('timestamptz', { name: 'expires_at' }) readonly expiresAt!: Date;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  /** The user who sent it; the invitation ends with that user's rights. Null: not sent by a user. */
  @Column('uuid', { name: 'invited_by', nullable: true }) readonly invitedBy!: string | null;
}
