import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';

/**
 * The parts of an acquirer's list.
 * - `payments`: read every minute.
 * - `late_payments`: payments of the last days, read again once a day, as some are listed late.
 * - `returns`: Pix with returned money, read once a day.
 */
export const LISTS = ['payments', 'late_payments', 'returns'] as const;
export type StatementList = (typeof LISTS)[number];

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
