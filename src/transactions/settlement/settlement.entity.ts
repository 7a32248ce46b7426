import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Personal, Sealed } from '../../core/database/index.js';
import type { PaymentMethod } from '../../acquirers/index.js';
import type { Mode } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import type { SettlementDecision } from './settlement.rules.js';

@Entity('settlements')
export class SettlementEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'settlements_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id', nullable: true }) readonly accountId!: string | null;
  @Column('text', { nullable: true }) readonly mode!: Mode | null;
  @Column('uuid', { name: 'transaction_id', nullable: true })
  readonly transactionId!: string | null;
  @NotPersonal('names a connection')
  @Column('text')
  readonly acquirer!: string;
  /** The account within which the end-to-end id is unique; null: the id is unique worldwide. */
  @Column('uuid', { nullable: true }) readonly namespace!: string | null;
  @NotPersonal('an id that the books keep')
  @Column('text', { name: 'end_to_end_id' })
  readonly endToEndId!: string;
  @NotPersonal('an id')
  @Column('text', { nullable: true })
  readonly txid!: string | null;
  @Column('bigint') readonly amount!: Amount;
  /** `closed`: an operator has entered that the money is gone, or has given it up. */
  @Column('text') readonly outcome!: SettlementDecision['outcome'] | 'unmatched' | 'closed';
  @Column('text', { default: 'PIX' }) readonly method!: PaymentMethod;
  @Column('text', { nullable: true }) readonly reason!: SettlementDecision['reason'];
  @Personal()
  @Sealed(`'settlement:' || end_to_end_id`)
  @Column('bytea', { name: 'payer_document_sealed', nullable: true })
  readonly payerDocumentSealed!: Buffer | null;
  /** The acquirer's fee for the payment, in cents. */
  @Column('bigint', { name: 'provider_fee', default: 0 }) readonly providerFee!: Amount;
  @Column('timestamptz', { name: 'reviewed_at', nullable: true }) readonly reviewedAt!: Date | null;
  @Column('uuid', { name: 'reviewed_by', nullable: true }) readonly reviewedBy!: string | null;
  @Column('timestamptz', { name: 'settled_at' }) readonly settledAt!: Date;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}
