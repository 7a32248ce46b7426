import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';

/** A single row: when a worker last compared all balances with their lines, and how many differed. */
@NotPersonal('the books: ids and amounts')
@Entity('balance_checks')
export class BalanceCheckEntity {
  @PrimaryColumn('boolean', { default: true, primaryKeyConstraintName: 'balance_checks_pkey' }) readonly single!: true;
  @Column('timestamptz', { name: 'checked_at' }) readonly checkedAt!: Date;
  @Column('integer') readonly incoherent!: number;
}
