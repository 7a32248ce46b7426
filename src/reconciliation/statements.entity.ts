import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('acquirer_statements')
@Index('acquirer_statements_due_idx', ['nextDueAt'])
export class AcquirerStatementEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'acquirer_statements_pkey' }) acquirer!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'acquirer_statements_pkey' }) list!: string;
  @Column('timestamptz', { name: 'swept_until', nullable: true }) sweptUntil!: Date | null;
  @Column('timestamptz', { name: 'resume_at', nullable: true }) resumeAt!: Date | null;
  @Column('timestamptz', { name: 'next_due_at' }) nextDueAt!: Date;
  @Column('integer', { default: 0 }) attempts!: number;
  @Column('text', { name: 'last_error', nullable: true }) lastError!: string | null;
}
