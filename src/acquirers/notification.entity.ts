import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('acquirer_notifications')
@Unique('acquirer_notifications_reference_key', ['acquirer', 'kind', 'reference'])
@Index('acquirer_notifications_due_idx', ['nextAttemptAt'], { where: `status = 'pending'` })
@Index('acquirer_notifications_ignored_idx', ['nextAttemptAt'], { where: `status = 'ignored'` })
@Index('acquirer_notifications_unreadable_idx', ['id'], { where: 'unreadable_since IS NOT NULL' })
@Index('acquirer_notifications_awaits_idx', ['acquirer', 'awaits'], { where: 'awaits IS NOT NULL' })
export class AcquirerNotificationEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'acquirer_notifications_pkey' }) id!: string;
  @Column('text') acquirer!: string;
  @Column('text') kind!: string;
  @Column('text') reference!: string;
  @Column('text', { default: 'pending' }) status!: string;
  @Column('integer', { default: 0 }) attempts!: number;
  @Column('integer', { default: 1 }) hints!: number;
  @Column('timestamptz', { name: 'next_attempt_at' }) nextAttemptAt!: Date;
  @Column('text', { name: 'last_error', nullable: true }) lastError!: string | null;
  @Column('text', { nullable: true }) awaits!: string | null;
  @Column('jsonb', { nullable: true }) about!: object | null;
  @Column('timestamptz', { name: 'unreadable_since', nullable: true }) unreadableSince!: Date | null;
  @Column('timestamptz', { name: 'received_at' }) receivedAt!: Date;
  @Column('timestamptz', { name: 'applied_at', nullable: true }) appliedAt!: Date | null;
}
