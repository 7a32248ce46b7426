import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../database/index.js';

/** A piece of work: something to be done about a subject. */
@NotPersonal('ids and errors')
@Entity('work')
export class WorkEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'work_pkey' }) readonly kind!: string;
  @PrimaryColumn('uuid', { name: 'subject_id', primaryKeyConstraintName: 'work_pkey' }) readonly subjectId!: string;
  @Column('timestamptz', { name: 'due_at' }) readonly dueAt!: Date;
  /** Runs since it was added or last put off to a date, including the current one. */
  @Column('integer', { default: 0 }) readonly attempts!: number;
  /** Proof that a run still owns the work: each claim has a new id. */
  @Column('uuid', { name: 'lease_id', nullable: true }) readonly leaseId!: string | null;
  /** End of the lease: until this time only one process runs the work. */
  @Column('timestamptz', { name: 'leased_until', nullable: true }) readonly leasedUntil!: Date | null;
  @Column('text', { name: 'last_error', nullable: true }) readonly lastError!: string | null;
  /** Time of the first error in the current series of failures. */
  @Column('timestamptz', { name: 'failing_since', nullable: true }) readonly failingSince!: Date | null;
}
