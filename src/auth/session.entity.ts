import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';

/** A login; its token names it. */
@NotPersonal('people who log in')
@Entity('sessions')
export class SessionEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'sessions_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'user_id' })
  readonly userId!: string;
  /** Null of an operator. */
  @Column('uuid', { name: 'account_id', nullable: true }) readonly accountId!: string | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  /** The hour of the last request. */
  @Column('timestamptz', { name: 'used_at' }) readonly usedAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) readonly expiresAt!: Date;
  @Column('text', { nullable: true }) readonly ip!: string | null;
  /** Shortened. */
  @Column('text', { name: 'user_agent', nullable: true }) readonly userAgent!: string | null;
}
