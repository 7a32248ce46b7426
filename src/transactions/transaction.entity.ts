import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Artefacts, Dispute, PaymentMethod } from '../acquirers/index.js';
import { NotPersonal, Personal, Sealed } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { ReturnReason } from './returns/pix-return.entity.js';
import type { TransactionStatus } from './transactions.machine.js';

export type Metadata = Record<string, unknown>;

/** `metadata.failure`: docs/contract.md#expiry. */
export interface Failure {
  readonly reason: string;
  readonly providerErrorCode: string;
  /** Lifetime of the QR code in seconds; absent when the charge had no expiry. */
  readonly ttlSeconds?: number;
  /** ISO 8601. */
  readonly at: string;
}

/** The payer bank's report of a disputed Pix, as it is stored and travels in events. Times are ISO 8601. */
export interface MedBlock {
  /** End-to-end id of the disputed Pix. */
  readonly referenceId: string;
  readonly status: Dispute['status'];
  /** Present once the bank has ruled: `agreed` means the merchant lost. */
  readonly result?: 'agreed' | 'disagreed';
  readonly method?: string;
  readonly reason?: string;
  /** The person who opened the dispute, where the bank names one: sealed by `MedPayers`, base64. */
  readonly payerSealed?: string;
  readonly openedAt: string;
  readonly updatedAt: string;
  readonly closedAt?: string;
  /** When the service learned the latest change. */
  readonly lastEventAt: string;
  /** If the disputed amount differs from the charge's, nothing is done before an operator has looked at it. */
  readonly amountMismatch: boolean;
}

/** A Pix that could not pay this charge (late, double or of another amount) and is back with its payer. */
export interface SentBack {
  readonly amount: Amount;
  readonly reason: ReturnReason;
  readonly endToEndId: string;
  /** Time at which the bank sent the money back, ISO 8601. */
  readonly at: string;
}

/** A payment in one mode of one account; charges and payments are two views of it. Amounts in the smallest unit. */
export class Transaction {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'transactions_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('text') readonly status!: TransactionStatus;
  @Column('bigint') readonly amount!: Amount;
  @NotPersonal('a code')
  @Column('text')
  readonly currency!: string;
  @Column('text', { name: 'payment_methods', array: true }) readonly paymentMethods!: readonly PaymentMethod[];
  @Column('text', { name: 'paid_with', nullable: true }) readonly paidWith!: PaymentMethod | null;
  @Personal()
  @Column('text', { name: 'customer_name', nullable: true })
  readonly customerName!: string | null;
  @Personal()
  @Column('text', { name: 'customer_document', nullable: true })
  readonly customerDocument!: string | null;
  @Personal()
  @Column('text', { name: 'customer_email', nullable: true })
  readonly customerEmail!: string | null;
  @Personal()
  @Column('text', { name: 'customer_phone', nullable: true })
  readonly customerPhone!: string | null;
  @Personal({ erased: 'with_metadata', empty: {} })
  /** Not `jsonb`: the keys keep their order. */
  @Column('json')
  readonly metadata!: Metadata;
  /** Set only when the payer lock holds for this transaction. */
  @Personal()
  @Column('text', { name: 'expected_payer_tax_id', nullable: true })
  readonly expectedPayerTaxId!: string | null;
  @NotPersonal('names a connection')
  @Column('text')
  readonly acquirer!: string;
  @NotPersonal('an id')
  @Column('text', { nullable: true })
  readonly txid!: string | null;
  @NotPersonal('tells of the merchant and the amount')
  @Column('text', { name: 'br_code', nullable: true })
  readonly brCode!: string | null;
  /** The endpoint for its `payment.*` events, in place of the account's endpoints. */
  @NotPersonal('an address of the merchant')
  @Column('text', { name: 'webhook_url', nullable: true })
  readonly webhookUrl!: string | null;
  /** Codes and links to pay by each method but Pix; null until the acquirer has made them. */
  @NotPersonal('codes and links to pay by')
  @Column('jsonb', { nullable: true })
  readonly artefacts!: Artefacts | null;
  /** The merchant's own id of its user. */
  @Personal({ erased: 'never' })
  @Column('text', { name: 'customer_ref', nullable: true })
  readonly customerId!: string | null;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) readonly expiresAt!: Date | null;
  /** The end-to-end id of the credited Pix; for other methods, the acquirer's id of the payment. */
  @NotPersonal('an id that the books keep')
  @Column('text', { name: 'end_to_end_id', nullable: true })
  readonly endToEndId!: string | null;
  @Column('bigint', { name: 'provider_fee', nullable: true }) readonly providerFee!: Amount | null;
  @Column('bigint', { name: 'platform_fee', nullable: true }) readonly platformFee!: Amount | null;
  @Column('bigint', { name: 'net_amount', nullable: true }) readonly netAmount!: Amount | null;
  @Column('timestamptz', { name: 'paid_at', nullable: true }) readonly paidAt!: Date | null;
  @NotPersonal('our own words about the end of the sale')
  @Column('jsonb', { nullable: true })
  readonly failure!: Failure | null;
  @Personal({ path: ['payerSealed'] })
  @Sealed(`'med_payer:' || id`, 'payerSealed')
  @Column('jsonb', { nullable: true })
  readonly med!: MedBlock | null;
  /** Oldest first; null: none. */
  @NotPersonal('ids and amounts')
  @Column('jsonb', { nullable: true })
  readonly returns!: readonly SentBack[] | null;
  /** Sum of its refunds that have not failed. */
  @Column('bigint', { name: 'refunds_amount', default: 0 }) readonly refundsAmount!: Amount;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
}

/**
 * A transaction with the columns that only SQL reads: due times of workers, and amounts taken by disputes and losses.
 */
@Entity('transactions')
export class TransactionEntity extends Transaction {
  /** When the acquirer is to be asked (again) about a charge past its expiry. */
  @Column('timestamptz', { name: 'expiry_ask_at', nullable: true }) readonly expiryAskAt!: Date | null;
  /** Start of the question after which the expiry may be written; null before. */
  @Column('timestamptz', { name: 'expiry_asked_at', nullable: true }) readonly expiryAskedAt!: Date | null;
  /** When the first question began, or was put off. */
  @Column('timestamptz', { name: 'expiry_first_asked_at', nullable: true }) readonly expiryFirstAskedAt!: Date | null;
  @Column('bigint', { name: 'disputed_amount', default: 0 }) readonly disputedAmount!: Amount;
  /**
   * The part of `refundsAmount` that goes back by a new Pix; the payer's bank can still take back the payment itself.
   */
  @Column('bigint', { name: 'cashouts_amount', default: 0 }) readonly cashoutsAmount!: Amount;
  /** Losses entered by operators: money that a bank took of the payment. */
  @Column('bigint', { name: 'losses_amount', default: 0 }) readonly lossesAmount!: Amount;
}
