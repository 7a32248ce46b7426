import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../../core/database/index.js';
import type { Mode } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';

/** Corrections of money in suspense. */
export const SUSPENSE_CORRECTIONS = ['return', 'assign', 'returned_elsewhere', 'write_off'] as const;

/** Corrections that are entered in an account's wallet. */
export const WALLET_CORRECTIONS = ['bank_fee', 'loss'] as const;

export const CORRECTION_KINDS = [...SUSPENSE_CORRECTIONS, ...WALLET_CORRECTIONS] as const;

export type CorrectionKind = (typeof CORRECTION_KINDS)[number];

export const CORRECTION_STATUSES = ['waiting', 'applied', 'rejected'] as const;

export type CorrectionStatus = (typeof CORRECTION_STATUSES)[number];

/** The party that pays for a fee or a loss. */
export const BEARERS = ['merchant', 'platform'] as const;

export type Bearer = (typeof BEARERS)[number];

/** A correction of the books by an operator. Large amounts need a second operator's approval. */
@NotPersonal('words of operators about the books, which keep them')
@Entity('corrections')
export class CorrectionEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'corrections_pkey' }) readonly id!: string;
  @Column('text') readonly kind!: CorrectionKind;
  @Column('text') readonly status!: CorrectionStatus;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('text') readonly currency!: string;
  /** In the smallest unit; negative for a fee or a loss that came back. */
  @Column('bigint') readonly amount!: Amount;
  /** Null: the correction concerns money in suspense, which belongs to no account. */
  @Column('text', { name: 'borne_by', nullable: true }) readonly borneBy!: Bearer | null;
  /** The Pix in suspense, or the Pix of the sale that had the loss. */
  @Column('uuid', { name: 'settlement_id', nullable: true })
  readonly settlementId!: string | null;
  /** The sale that the money is assigned to, or that had the fee or the loss. */
  @Column('uuid', { name: 'transaction_id', nullable: true })
  readonly transactionId!: string | null;
  /** The bank's id of a return made in the bank's own app; `reconcile` matches the return by it. */
  @Column('text', { name: 'bank_reference', nullable: true }) readonly bankReference!: string | null;
  /** The acquirer whose invoice has the fee, and the invoice's month (`2026-11`). */
  @Column('text', { nullable: true }) readonly acquirer!: string | null;
  @Column('text', { name: 'invoice_month', nullable: true }) readonly invoiceMonth!: string | null;
  @Column('text') readonly reason!: string;
  @Column('text', { name: 'idempotency_key' }) readonly idempotencyKey!: string;
  @Column('uuid', { name: 'requested_by' }) readonly requestedBy!: string;
  @Column('uuid', { name: 'decided_by', nullable: true }) readonly decidedBy!: string | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'decided_at', nullable: true }) readonly decidedAt!: Date | null;
}
