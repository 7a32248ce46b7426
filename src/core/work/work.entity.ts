import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('work')
@Index('work_due_idx', ['kind', 'dueAt'])
export class WorkEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'work_pkey' }) kind!: string;
  @PrimaryColumn('uuid', { name: 'subject_id', primaryKeyConstraintName: 'work_pkey' }) subjectId!: string;
  @Column('timestamptz', { name: 'due_at' }) dueAt!: Date;
  @Column('integer', { default: 0 }) attempts!: number;
  @Column('uuid', { name: 'lease_id', nullable: true }) leaseId!: string | null;
  @Column('timestamptz', { name: 'leased_until', nullable: true }) leasedUntil!: Date | null;
  @Column('text', { name: 'last_error', nullable: true }) lastError!: string | null;
}
