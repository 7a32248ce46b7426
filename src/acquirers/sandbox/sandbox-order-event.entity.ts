import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../../core/database/index.js';
import type { OrderEvent } from '../acquirer.port.js';

@NotPersonal('the simulated bank')
@Entity('sandbox_order_events')
export class SandboxOrderEventEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_order_events_pkey' }) readonly txid!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_order_events_pkey' }) readonly kind!: OrderEvent['kind'];
  @Column('timestamptz', { name: 'happened_at' }) readonly happenedAt!: Date;
}
