import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('events')
@Index('events_pending_idx', ['nextAttemptAt'], { where: `status = 'pending'` })
@Index('events_subject_key', ['subjectId', 'sequence'], { unique: true })
export class EventEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'events_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @Column('text') type!: string;
  @Column('uuid', { name: 'subject_id' }) subjectId!: string;
  /** 1, 2, … for the events of one subject. */
  @Column('integer') sequence!: number;
  @Column('jsonb') data!: object;
  @Column('timestamptz', { name: 'occurred_at' }) occurredAt!: Date;
  @Column('text', { default: 'pending' }) status!: string;
  @Column('timestamptz', { name: 'next_attempt_at' }) nextAttemptAt!: Date;
}
