import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../../core/database/index.js';
import type { Day } from '../../brazil/index.js';
import type { Amount } from '../../core/money/index.js';
import type { FeeOperation, FeeSchedule } from './fees.js';

/** Fees of a connection's PSP for an operation. If two begin on one day, the one written later counts. */
@NotPersonal('prices')
@Entity('acquirer_fees')
export class AcquirerFeeEntity implements FeeSchedule {
  @PrimaryColumn('uuid', { name: 'connection_id', primaryKeyConstraintName: 'acquirer_fees_pkey' })
  readonly connectionId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'acquirer_fees_pkey' }) readonly operation!: FeeOperation;
  /** The first day of the fees, in São Paulo. */
  @PrimaryColumn('date', { name: 'valid_from', primaryKeyConstraintName: 'acquirer_fees_pkey' })
  readonly validFrom!: Day;
  @Column('integer') readonly bps!: number;
  @Column('bigint') readonly fixed!: Amount;
  @Column('bigint') readonly minimum!: Amount;
  @Column('bigint', { nullable: true }) readonly maximum!: Amount | null;
  @PrimaryColumn('timestamptz', { name: 'created_at', primaryKeyConstraintName: 'acquirer_fees_pkey' })
  readonly createdAt!: Date;
}
