import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';

/** Failed logins with an e-mail from an address in one minute, until they are in the audit trail. */
@NotPersonal('people who log in; gone after their retention')
@Entity('login_failures')
export class LoginFailureEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'login_failures_pkey' }) readonly id!: string;
  /** A keyed hash: without the key e-mails cannot be found by trying them. */
  @Column('text', { name: 'email_hash' }) readonly emailHash!: string;
  /** Empty where it is not known. */
  @Column('text') readonly ip!: string;
  @Column('timestamptz', { name: 'minute_at' }) readonly minuteAt!: Date;
  @Column('integer') readonly count!: number;
  /** Null: no user has this e-mail. */
  @Column('uuid', { name: 'user_id', nullable: true }) readonly userId!: string | null;
  /** The id of the first request that failed. */
  @Column('text', { name: 'request_id', nullable: true }) readonly requestId!: string | null;
}
