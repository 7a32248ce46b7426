import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';

/** A part of a simulated payout that came back. */
export interface SandboxPayoutReturn {
  readonly id: string;
  readonly amount: Amount;
  /** ISO 8601. */
  readonly at: string;
}

/** A payout at the simulated bank. Without `requestedAt`: what a test wants to happen to a payout that comes later. */
@NotPersonal('ids and amounts')
@Entity('sandbox_payouts')
export class SandboxPayoutEntity {
  @PrimaryColumn('uuid', { name: 'holder_id', primaryKeyConstraintName: 'sandbox_payouts_pkey' })
  readonly holderId!: string;
  @PrimaryColumn('text', { name: 'send_id', primaryKeyConstraintName: 'sandbox_payouts_pkey' })
  readonly sendId!: string;
  @Column('bigint', { nullable: true }) readonly amount!: Amount | null;
  @Column('text', { name: 'end_to_end_id', nullable: true }) readonly endToEndId!: string | null;
  @Column('timestamptz', { name: 'requested_at', nullable: true }) readonly requestedAt!: Date | null;
  /** `auto`: paid after a second. */
  @Column('text', { default: 'auto' }) readonly state!: 'auto' | 'paid' | 'failed' | 'unknown' | 'review';
  @Column('timestamptz', { name: 'paid_at', nullable: true }) readonly paidAt!: Date | null;
  @Column('jsonb', { default: [] }) readonly returns!: readonly SandboxPayoutReturn[];
}
