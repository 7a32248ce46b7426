import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('events')
@Index('events_pending_idx', ['nextAttemptAt'], { where: `status = 'pending'` })
@Index('events_subject_key', ['subjectId', 'sequence'], { unique: true })
export class EventEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'events_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: string;
  @Column('text') readonly type!: string;
  @Column('uuid', { name: 'subject_id' }) readonly subjectId!: string;
  /** 1, 2, … for the events of one subject. */
  @Column('integer') readonly sequence!: number;
  @Column('jsonb') readonly data!: object;
  @Column('timestamptz', { name: 'occurred_at' }) readonly occurredAt!: Date;
  @Column('text', { default: 'pending' }) readonly status!: string;
  @Column('timestamptz', { name: 'next_attempt_at' }) readonly nextAttemptAt!: Date;
}
