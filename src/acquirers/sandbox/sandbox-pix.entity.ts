import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import type { PaymentMethod } from '../acquirer.port.js';

/** Payments by any method. */
@NotPersonal('the simulated bank, which keeps what a real one does, sealed')
@Entity('sandbox_pix')
export class SandboxPixEntity {
  @PrimaryColumn('uuid', { name: 'holder_id', primaryKeyConstraintName: 'sandbox_pix_pkey' })
  readonly holderId!: string;
  @PrimaryColumn('text', { name: 'end_to_end_id', primaryKeyConstraintName: 'sandbox_pix_pkey' })
  readonly endToEndId!: string;
  @Column('text') readonly txid!: string;
  @Column('bigint') readonly amount!: Amount;
  @Sealed(`'sandbox_pix:' || end_to_end_id`)
  @Column('bytea', { name: 'payer_sealed' })
  readonly payerSealed!: Buffer;
  @Column('timestamptz', { name: 'settled_at' }) readonly settledAt!: Date;
  @Column('text', { default: 'PIX' }) readonly method!: PaymentMethod;
}
