import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('refunds')
@Index('refunds_transaction_id_idx', ['transactionId', 'id'])
export class RefundEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'refunds_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @ForeignKey('TransactionEntity', { name: 'refunds_transaction_id_fkey' })
  @Column('uuid', { name: 'transaction_id' })
  transactionId!: string;
  @Column('text') acquirer!: string;
  @Column('text', { name: 'payment_reference' }) paymentReference!: string;
  @Column('text') way!: string;
  @Column('bigint') amount!: number;
  @Column('bigint') fee!: number;
  @Column('text') currency!: string;
  @Column('text', { nullable: true }) reason!: string | null;
  @Column('bytea', { name: 'destination_sealed', nullable: true }) destinationSealed!: Buffer | null;
  @Column('text') status!: string;
  @Column('text', { name: 'bank_reference', nullable: true }) bankReference!: string | null;
  @Column('text', { name: 'failure_reason', nullable: true }) failureReason!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
