import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../database/index.js';

@NotPersonal('mail to merchants and operators, gone after its retention; receipts to payers are not kept')
@Entity('emails')
export class EmailEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'emails_pkey' }) readonly id!: string;
  /** The account that the mail concerns; null if none, as for a mail to an operator. */
  @Column('uuid', { name: 'account_id', nullable: true }) readonly accountId!: string | null;
  /** A bare address, without a name. */
  @Column('text', { name: 'recipient' }) readonly to!: string;
  @Column('text') readonly subject!: string;
  @Column('text', { name: 'text_body' }) readonly text!: string;
  @Column('text', { name: 'html_body' }) readonly html!: string;
  /** Replaces SECRET in the bodies at sending, and is removed then. */
  @Sealed(`'mail:' || id`)
  @Column('bytea', { name: 'secret_sealed', nullable: true })
  readonly secretSealed!: Buffer | null;
  /** Whether the mail is about test mode. */
  @Column('boolean', { name: 'is_test', default: false }) readonly isTest!: boolean;
  @Column('text', { default: 'pending' }) readonly status!: 'sent' | 'pending' | 'failed';
  @Column('text', { name: 'last_error', nullable: true }) readonly lastError!: string | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  /** Time at which it was sent or given up. */
  @Column('timestamptz', { name: 'ended_at', nullable: true }) readonly endedAt!: Date | null;
}
