import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('work')
@Index('work_fresh_idx', ['kind', 'dueAt'], { where: '(attempts = 0)' })
@Index('work_again_idx', ['kind', 'dueAt'], { where: '(attempts > 0)' })
export class WorkEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'work_pkey' }) kind!: string;
  @PrimaryColumn('uuid', { name: 'subject_id', primaryKeyConstraintName: 'work_pkey' }) subjectId!: string;
  @Column('timestamptz', { name: 'due_at' }) dueAt!: Date;
  @Column('integer', { default: 0 }) attempts!: number;
  @Column('uuid', { name: 'lease_id', nullable: true }) leaseId!: string | null;
  @Column('timestamptz', { name: 'leased_until', nullable: true }) leasedUntil!: Date | null;
  @Column('text', { name: 'last_error', nullable: true }) lastError!: string | null;
}
