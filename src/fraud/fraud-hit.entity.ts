import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';

export type FraudOperation = 'charge' | 'payment' | 'refund' | 'payout';

export type FraudCode = 'fraud.document_blocked' | 'fraud.amount_limit_exceeded' | 'fraud.velocity_exceeded';

@NotPersonal('documents are masked; gone after their retention')
@Entity('fraud_hits')
export class FraudHitEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'fraud_hits_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('text') readonly code!: FraudCode;
  /** False in shadow mode: the request went on. */
  @Column('boolean') readonly enforced!: boolean;
  @Column('text') readonly operation!: FraudOperation;
  @Column('bigint') readonly amount!: Amount;
  @Column('text', { name: 'masked_document', nullable: true }) readonly maskedDocument!: string | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}
