import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Dispute, NotificationHint, ReceivedPix } from './acquirer.port.js';

/** The stored part of a dispute that waits for its payment. Times are ISO 8601. */
export interface DisputeNote extends Pick<Dispute, 'type' | 'amount' | 'status'> {
  readonly openedAt: string;
  readonly deadline: string | null;
}

/** The stored part of a Pix as the acquirer's list or its charge shows it, without its payer. */
export interface PixNote extends Pick<ReceivedPix, 'txid' | 'amount' | 'fee'> {
  /** ISO 8601. */
  readonly settledAt: string;
}

@NotPersonal('ids, amounts and states at the bank')
@Entity('acquirer_notifications')
export class AcquirerNotificationEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'acquirer_notifications_pkey' }) readonly id!: string;
  @Column('text') readonly acquirer!: string;
  @Column('text') readonly kind!: NotificationHint['kind'];
  @Column('text') readonly reference!: string;
  /** The txid of the charge that a `pix` or a `dispute` is about (`NotificationHint`). */
  @Column('text', { nullable: true }) readonly txid!: string | null;
  @Column('text', { default: 'pending' }) readonly status!: string;
  @Column('integer', { default: 0 }) readonly attempts!: number;
  /**
   * Counts reports, wakes and, for disputes, queries. While this number stays, an answer that was read is the latest.
   */
  @Column('integer', { default: 1 }) readonly hints!: number;
  @Column('timestamptz', { name: 'next_attempt_at' }) readonly nextAttemptAt!: Date;
  @Column('text', { name: 'last_error', nullable: true }) readonly lastError!: string | null;
  /** The payment's reference or, where the bank does not say it, the txid. */
  @Column('text', { nullable: true }) readonly awaits!: string | null;
  @Column('jsonb', { nullable: true }) readonly about!: DisputeNote | PixNote | null;
  @Column('timestamptz', { name: 'unreadable_since', nullable: true }) readonly unreadableSince!: Date | null;
  /** Only callbacks have reported it: anybody who knows the address may have made it up. */
  @Column('boolean', { name: 'is_hearsay', default: false }) readonly isUnconfirmed!: boolean;
  @Column('timestamptz', { name: 'received_at' }) readonly receivedAt!: Date;
  @Column('timestamptz', { name: 'applied_at', nullable: true }) readonly appliedAt!: Date | null;
}
