import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../../core/database/index.js';
import type { PaymentMethod } from '../../acquirers/index.js';
import type { Mode } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import type { TransactionStatus } from '../transactions.machine.js';

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
