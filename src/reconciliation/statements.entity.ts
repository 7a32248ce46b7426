import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('acquirer_statements')
@Index('acquirer_statements_due_idx', ['nextDueAt'])
export class AcquirerStatementEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'acquirer_statements_pkey' }) readonly acquirer!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'acquirer_statements_pkey' }) readonly list!: string;
  @Column('timestamptz', { name: 'swept_until', nullable: true }) readonly sweptUntil!: Date | null;
  @Column('timestamptz', { name: 'resume_at', nullable: true }) readonly resumeAt!: Date | null;
  @Column('timestamptz', { name: 'next_due_at' }) readonly nextDueAt!: Date;
  @Column('integer', { default: 0 }) readonly attempts!: number;
  @Column('text', { name: 'last_error', nullable: true }) readonly lastError!: string | null;
}
