import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import type { Dispute, DisputeMethod, DisputeType } from '../acquirer.port.js';

@NotPersonal('the simulated bank')
@Entity('sandbox_disputes')
export class SandboxDisputeEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_disputes_pkey' }) readonly reference!: string;
  @Column('text') readonly txid!: string;
  @Column('uuid', { name: 'holder_id' }) readonly holderId!: string;
  @Column('text', { name: 'end_to_end_id' }) readonly endToEndId!: string;
  @Column('text') readonly type!: DisputeType;
  @Column('bigint') readonly amount!: Amount;
  @Column('text') readonly status!: Dispute['status'];
  @Column('text', { nullable: true }) readonly result!: Dispute['result'];
  @Column('text', { nullable: true }) readonly method!: DisputeMethod | null;
  @Column('text', { nullable: true }) readonly reason!: string | null;
  @Column('timestamptz', { name: 'response_deadline', nullable: true }) readonly responseDeadline!: Date | null;
  @Column('timestamptz', { name: 'opened_at' }) readonly openedAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
  @Column('timestamptz', { name: 'closed_at', nullable: true }) readonly closedAt!: Date | null;
  /** The person who opened the dispute, as its report says; null: the report names nobody. */
  @Sealed(`'sandbox_dispute:' || reference`)
  @Column('bytea', { name: 'payer_sealed', nullable: true })
  readonly payerSealed!: Buffer | null;
}
