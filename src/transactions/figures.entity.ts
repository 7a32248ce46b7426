import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('transaction_figures')
export class TransactionFigureEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'transaction_figures_pkey' })
  readonly accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) readonly mode!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) readonly kind!: string;
  @PrimaryColumn('timestamptz', { primaryKeyConstraintName: 'transaction_figures_pkey' }) readonly bucket!: Date;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) readonly currency!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) readonly key!: string;
  @Column('bigint') readonly count!: number;
  @Column('numeric') readonly amount!: string;
}

@Entity('transaction_changes')
@Index('transaction_changes_account_idx', ['accountId', 'mode'])
export class TransactionChangeEntity {
  @PrimaryColumn('bigint', {
    primaryKeyConstraintName: 'transaction_changes_pkey',
    generated: 'identity',
    generatedIdentity: 'ALWAYS',
  })
  readonly number!: number;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: string;
  @Column('uuid', { name: 'transaction_id' }) readonly transactionId!: string;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('text') readonly currency!: string;
  @Column('bigint') readonly amount!: number;
  @Column('text', { name: 'payment_methods', array: true, nullable: true }) readonly paymentMethods!: string[] | null;
  @Column('text', { name: 'from_status', nullable: true }) readonly fromStatus!: string | null;
  @Column('text', { name: 'to_status', nullable: true }) readonly toStatus!: string | null;
  @Column('text', { name: 'paid_with', nullable: true }) readonly paidWith!: string | null;
  @Column('timestamptz', { name: 'paid_at', nullable: true }) readonly paidAt!: Date | null;
  @Column('uuid', { name: 'refund_id', nullable: true }) readonly refundId!: string | null;
}
