import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../database/index.js';

/** One piece of work: something to be done about a subject. */
@NotPersonal('ids and errors')
@Entity('work')
export class WorkEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'work_pkey' }) readonly kind!: string;
  @PrimaryColumn('uuid', { name: 'subject_id', primaryKeyConstraintName: 'work_pkey' }) readonly subjectId!: string;
  @Column('timestamptz', { name: 'due_at' }) readonly dueAt!: Date;
  /** Runs since it was added or last put off to a date, the one under way included. */
  @Column('integer', { default: 0 }) readonly attempts!: number;
  /** What proves that a run still owns it: no two claims have the same. */
  @Column('uuid', { name: 'lease_id', nullable: true }) readonly leaseId!: string | null;
  /** Until then one process has it. */
  @Column('timestamptz', { name: 'leased_until', nullable: true }) readonly leasedUntil!: Date | null;
  @Column('text', { name: 'last_error', nullable: true }) readonly lastError!: string | null;
  /** Since its first error, where it has failed ever since. */
  @Column('timestamptz', { name: 'failing_since', nullable: true }) readonly failingSince!: Date | null;
}
