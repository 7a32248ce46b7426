import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../../core/database/index.js';
import type { PaymentMethod } from '../../acquirers/index.js';
import type { Mode } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import type { TransactionStatus } from '../transactions.machine.js';

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

@NotPersonal('statuses and amounts')
@Entity('transaction_changes')
export class TransactionChangeEntity {
  @PrimaryColumn('bigint', {
    primaryKeyConstraintName: 'transaction_changes_pkey',
    generated: 'identity',
    generatedIdentity: 'ALWAYS',
  })
  readonly number!: number;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('uuid', { name: 'transaction_id' }) readonly transactionId!: string;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('text') readonly currency!: string;
  @Column('bigint') readonly amount!: Amount;
  @Column('text', { name: 'payment_methods', array: true, nullable: true }) readonly paymentMethods!:
    readonly PaymentMethod[] | null;
  @Column('text', { name: 'from_status', nullable: true }) readonly fromStatus!: TransactionStatus | null;
  @Column('text', { name: 'to_status', nullable: true }) readonly toStatus!: TransactionStatus | null;
  @Column('text', { name: 'paid_with', nullable: true }) readonly paidWith!: PaymentMethod | null;
  @Column('timestamptz', { name: 'paid_at', nullable: true }) readonly paidAt!: Date | null;
  @Column('uuid', { name: 'refund_id', nullable: true }) readonly refundId!: string | null;
}
