import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../../core/database/index.js';
import type { Mode } from '../../core/mode.js';

/** The migrations say what each is. */
export type FigureKind = 'month' | 'day' | 'hour' | 'offered' | 'paid' | 'settled' | 'refunded' | 'wait' | 'wait_month';

@NotPersonal('counts and sums')
@Entity('transaction_figures')
export class TransactionFigureEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'transaction_figures_pkey' })
  readonly accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) readonly mode!: Mode;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) readonly kind!: FigureKind;
  @PrimaryColumn('timestamptz', { primaryKeyConstraintName: 'transaction_figures_pkey' }) readonly bucket!: Date;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) readonly currency!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) readonly key!: string;
  @Column('bigint') readonly count!: number;
  @Column('numeric') readonly amount!: string;
}
