import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { OperatorQueueName } from '../core/operator-queues.js';

/** When operators last got a mail of a queue. */
@NotPersonal('names of queues')
@Entity('operator_alerts')
export class OperatorAlertEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'operator_alerts_pkey' }) readonly queue!: OperatorQueueName;
  @Column('timestamptz', { name: 'sent_at' }) readonly sentAt!: Date;
}
