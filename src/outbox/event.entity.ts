import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Personal, Sealed } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';

/**
 * Domain events by type, each with its data. A context adds its own by declaration merging. The data are a snapshot at
 * the time of the event, so that a retry weeks later still describes that time.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the merging point
export interface DomainEvents {}

export type DomainEventType = keyof DomainEvents;

@Entity('events')
export class EventEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'events_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('text') readonly type!: DomainEventType;
  @Column('uuid', { name: 'subject_id' }) readonly subjectId!: string;
  /** 1, 2, … for the events of one subject, in the order in which they were committed. */
  @Column('integer') readonly sequence!: number;
  @NotPersonal('each context marks the personal and sealed parts of its own events')
  @Column('jsonb')
  readonly data!: DomainEvents[DomainEventType];
  /** The sealed fields of the data as JSON; null for an event without such fields. */
  @Personal({ isCopy: true })
  @Sealed(`'event:' || id`)
  @Column('text', { name: 'customer_sealed', nullable: true })
  readonly personalSealed!: string | null;
  @Column('timestamptz', { name: 'occurred_at' }) readonly occurredAt!: Date;
  /**
   * The number of the database transaction that wrote it, set by PostgreSQL; 0 for events from before it was stored.
   */
  @Column('bigint', { default: () => 'current_xid()' }) readonly xid!: number;
  @Column('text', { default: 'pending' }) readonly status!: 'pending' | 'done';
  @Column('timestamptz', { name: 'next_attempt_at' }) readonly nextAttemptAt!: Date;
}
