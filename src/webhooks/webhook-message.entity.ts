import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Personal, Sealed } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';

/** The sent body of a public event, shared by all its receivers. Never changed. */
@Entity('webhook_messages')
export class WebhookMessageEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'webhook_messages_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('uuid', { name: 'event_id' }) readonly eventId!: string;
  @NotPersonal('the name of an event')
  @Column('text', { name: 'event_type' })
  readonly eventType!: string;
  /** Requested by hand: created whatever was delivered before. Otherwise an event has one message for each name. */
  @Column('boolean') readonly manual!: boolean;
  /** Sealed: it names the payer. */
  @Personal({ isCopy: true })
  @Sealed(`'webhook_message:' || id`)
  @Column('text')
  readonly payload!: string;
  @Column('uuid', { name: 'delivery_ids', array: true }) readonly deliveryIds!: readonly string[];
}
