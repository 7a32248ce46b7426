import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('transactions')
@Unique('transactions_txid_key', ['txid'])
@Index('transactions_list_idx', ['accountId', 'mode', 'id'])
@Index('transactions_document_idx', ['accountId', 'mode', 'customerDocument', 'id'], {
  where: 'customer_document IS NOT NULL',
})
@Index('transactions_open_idx', ['expiresAt'], { where: `status IN ('PENDING', 'WAITING_PAYMENT', 'PROCESSING')` })
@Index('transactions_status_idx', ['accountId', 'mode', 'status', 'id'])
@Index('transactions_amount_idx', ['accountId', 'mode', 'amount', 'id'])
@Index('transactions_customer_name_idx', ['accountId', 'mode', 'customerName', 'id'], {
  where: 'customer_name IS NOT NULL',
})
@Index('transactions_paid_at_idx', ['accountId', 'mode', 'paidAt', 'id'], { where: 'paid_at IS NOT NULL' })
export class TransactionEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'transactions_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @Column('text') status!: string;
  @Column('bigint') amount!: number;
  @Column('text') currency!: string;
  @Column('text', { name: 'payment_methods', array: true }) paymentMethods!: string[];
  @Column('text', { name: 'paid_with', nullable: true }) paidWith!: string | null;
  @Column('text', { name: 'customer_name', nullable: true }) customerName!: string | null;
  @Column('text', { name: 'customer_document', nullable: true }) customerDocument!: string | null;
  @Column('text', { name: 'customer_email', nullable: true }) customerEmail!: string | null;
  @Column('text', { name: 'customer_phone', nullable: true }) customerPhone!: string | null;
  @Column('jsonb') metadata!: object;
  @Column('text', { name: 'expected_payer_tax_id', nullable: true }) expectedPayerTaxId!: string | null;
  @Column('text') acquirer!: string;
  @Column('text', { nullable: true }) txid!: string | null;
  @Column('text', { name: 'br_code', nullable: true }) brCode!: string | null;
  @Column('text', { name: 'webhook_url', nullable: true }) webhookUrl!: string | null;
  @Column('jsonb', { nullable: true }) artefacts!: object | null;
  @Column('text', { name: 'customer_ref', nullable: true }) customerId!: string | null;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
  @Column('text', { name: 'end_to_end_id', nullable: true }) endToEndId!: string | null;
  @Column('bigint', { name: 'provider_fee', nullable: true }) providerFee!: number | null;
  @Column('bigint', { name: 'platform_fee', nullable: true }) platformFee!: number | null;
  @Column('bigint', { name: 'net_amount', nullable: true }) netAmount!: number | null;
  @Column('timestamptz', { name: 'paid_at', nullable: true }) paidAt!: Date | null;
  @Column('timestamptz', { name: 'expiry_ask_at', nullable: true }) expiryAskAt!: Date | null;
  @Column('timestamptz', { name: 'expiry_asked_at', nullable: true }) expiryAskedAt!: Date | null;
  @Column('bigint', { name: 'refunds_amount', default: 0 }) refundsAmount!: number;
  @Column('bigint', { name: 'disputed_amount', default: 0 }) disputedAmount!: number;
  @Column('jsonb', { nullable: true }) med!: object | null;
  @Column('jsonb', { nullable: true }) failure!: object | null;
  @Column('jsonb', { nullable: true }) returns!: object | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('settlements')
@Unique('settlements_end_to_end_id_key', ['acquirer', 'namespace', 'endToEndId'])
@Index('settlements_credited_key', ['transactionId'], { unique: true, where: `outcome = 'credited'` })
@Index('settlements_transaction_id_idx', ['transactionId'])
@Index('settlements_settled_at_idx', ['acquirer', 'settledAt'], { where: `acquirer <> 'sandbox'` })
@Index('settlements_attention_idx', ['createdAt'], { where: `outcome IN ('review', 'unmatched')` })
export class SettlementEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'settlements_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id', nullable: true }) accountId!: string | null;
  @Column('text', { nullable: true }) mode!: string | null;
  @ForeignKey('TransactionEntity', { name: 'settlements_transaction_id_fkey' })
  @Column('uuid', { name: 'transaction_id', nullable: true })
  transactionId!: string | null;
  @Column('text') acquirer!: string;
  @Column('uuid', { nullable: true }) namespace!: string | null;
  @Column('text', { name: 'end_to_end_id' }) endToEndId!: string;
  @Column('text', { nullable: true }) txid!: string | null;
  @Column('bigint') amount!: number;
  @Column('text') outcome!: string;
  @Column('text', { default: 'PIX' }) method!: string;
  @Column('text', { nullable: true }) reason!: string | null;
  @Column('bytea', { name: 'payer_document_sealed', nullable: true }) payerDocumentSealed!: Buffer | null;
  @Column('bigint', { name: 'provider_fee', default: 0 }) providerFee!: number;
  @Column('timestamptz', { name: 'reviewed_at', nullable: true }) reviewedAt!: Date | null;
  @Column('uuid', { name: 'reviewed_by', nullable: true }) reviewedBy!: string | null;
  @Column('timestamptz', { name: 'settled_at' }) settledAt!: Date;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('pix_returns')
@Unique('pix_returns_return_id_key', ['acquirer', 'endToEndId', 'returnId'])
@Index('pix_returns_transaction_id_idx', ['transactionId'])
@Index('pix_returns_account_id_idx', ['accountId', 'id'])
@Index('pix_returns_failed_idx', ['acquirer', 'endToEndId'], { where: `status = 'FAILED'` })
export class PixReturnEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'pix_returns_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @ForeignKey('TransactionEntity', { name: 'pix_returns_transaction_id_fkey' })
  @Column('uuid', { name: 'transaction_id' })
  transactionId!: string;
  @Column('text') acquirer!: string;
  @Column('text', { name: 'end_to_end_id' }) endToEndId!: string;
  @Column('text', { name: 'return_id' }) returnId!: string;
  @Column('text', { default: 'devolution' }) way!: string;
  @Column('text', { default: 'BRL' }) currency!: string;
  @Column('bigint') amount!: number;
  @Column('text') reason!: string;
  @Column('text') status!: string;
  @Column('text', { name: 'failure_reason', nullable: true }) failureReason!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
