import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';

/**
 * The parts of an acquirer's list.
 * - `payments`: read every minute.
 * - `late_payments`: payments of the last days, read again once a day, as some are listed late.
 * - `returns`: Pix with returned money, read once a day.
 * - `payouts`: sends of the last two days, read every hour.
 * - `late_payouts`: sends of the last thirty days, read once a day for returns.
 */
export type StatementList = 'payments' | 'late_payments' | 'returns' | PayoutList;

/** Lists of sends, of acquirers whose desk has one. */
export const PAYOUT_LISTS = ['payouts', 'late_payouts'] as const;
export type PayoutList = (typeof PAYOUT_LISTS)[number];

/** Lists of received Pix. */
export const PIX_LISTS = ['payments', 'late_payments', 'returns'] as const;

export function isPayoutList(list: StatementList): list is PayoutList {
  return PAYOUT_LISTS.some((one) => one === list);
}

@NotPersonal('places in lists of a connection')
@Entity('acquirer_statements')
export class AcquirerStatementEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'acquirer_statements_pkey' }) readonly acquirer!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'acquirer_statements_pkey' }) readonly list!: StatementList;
  /** Everything before this time has been read; null before the first pass. */
  @Column('timestamptz', { name: 'swept_until', nullable: true }) readonly sweptUntil!: Date | null;
  /** Where an unfinished pass continues; null between passes. */
  @Column('timestamptz', { name: 'resume_at', nullable: true }) readonly resumeAt!: Date | null;
  /** While a worker reads the list: the end of the lease. */
  @Column('timestamptz', { name: 'next_due_at' }) readonly nextDueAt!: Date;
  /** Failed attempts since the last success. */
  @Column('integer', { default: 0 }) readonly attempts!: number;
  @Column('text', { name: 'last_error', nullable: true }) readonly lastError!: string | null;
}
