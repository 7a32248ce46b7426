import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('transaction_figures')
export class TransactionFigureEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'transaction_figures_pkey' })
  accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) mode!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) kind!: string;
  @PrimaryColumn('timestamptz', { primaryKeyConstraintName: 'transaction_figures_pkey' }) bucket!: Date;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) currency!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'transaction_figures_pkey' }) key!: string;
  @Column('bigint') count!: number;
  @Column('numeric') amount!: string;
}

@Entity('transaction_changes')
@Index('transaction_changes_account_idx', ['accountId', 'mode'])
export class TransactionChangeEntity {
  @PrimaryColumn('bigint', {
    primaryKeyConstraintName: 'transaction_changes_pkey',
    generated: 'identity',
    generatedIdentity: 'ALWAYS',
  })
  number!: number;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @Column('uuid', { name: 'transaction_id' }) transactionId!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('text') currency!: string;
  @Column('bigint') amount!: number;
  @Column('text', { name: 'payment_methods', array: true, nullable: true }) paymentMethods!: string[] | null;
  @Column('text', { name: 'from_status', nullable: true }) fromStatus!: string | null;
  @Column('text', { name: 'to_status', nullable: true }) toStatus!: string | null;
  @Column('text', { name: 'paid_with', nullable: true }) paidWith!: string | null;
  @Column('timestamptz', { name: 'paid_at', nullable: true }) paidAt!: Date | null;
  @Column('uuid', { name: 'refund_id', nullable: true }) refundId!: string | null;
}
