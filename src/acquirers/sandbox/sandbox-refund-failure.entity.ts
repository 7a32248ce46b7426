import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../../core/database/index.js';

/** Charges whose next refund fails. */
@NotPersonal('the simulated bank')
@Entity('sandbox_refund_failures')
export class SandboxRefundFailureEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_refund_failures_pkey' }) readonly txid!: string;
  @Column('timestamptz', { name: 'asked_at' }) readonly askedAt!: Date;
}
