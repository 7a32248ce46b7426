import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import type { RefundWay } from '../acquirer.port.js';

@NotPersonal('the simulated bank, which keeps what a real one does, sealed')
@Entity('sandbox_returns')
export class SandboxReturnEntity {
  @PrimaryColumn('uuid', { name: 'holder_id', primaryKeyConstraintName: 'sandbox_returns_pkey' })
  readonly holderId!: string;
  @PrimaryColumn('text', { name: 'end_to_end_id', primaryKeyConstraintName: 'sandbox_returns_pkey' })
  readonly endToEndId!: string;
  @PrimaryColumn('text', { name: 'return_id', primaryKeyConstraintName: 'sandbox_returns_pkey' })
  readonly returnId!: string;
  @Column('bigint') readonly amount!: Amount;
  @Column('timestamptz', { name: 'requested_at' }) readonly requestedAt!: Date;
  @Column('text', { default: 'devolution' }) readonly way!: RefundWay;
  @Sealed(`'sandbox_return:' || end_to_end_id || '/' || return_id`)
  @Column('bytea', { name: 'destination_sealed', nullable: true })
  readonly destinationSealed!: Buffer | null;
  @Column('text', { name: 'bank_reference', nullable: true }) readonly bankReference!: string | null;
  @Column('boolean', { default: false }) readonly fails!: boolean;
}
