import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../../core/database/index.js';

@NotPersonal('the simulated bank')
@Entity('sandbox_charges')
export class SandboxChargeEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_charges_pkey' }) readonly txid!: string;
  @Column('text') readonly status!: 'EXPIRED' | 'REFUSED' | 'REMOVED';
  @Column('timestamptz', { name: 'ended_at' }) readonly endedAt!: Date;
}
