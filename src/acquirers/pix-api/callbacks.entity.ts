import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../../core/database/index.js';

@NotPersonal('what a bank has sent, sealed; gone after its retention')
@Entity('acquirer_callbacks')
export class AcquirerCallbackEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'acquirer_callbacks_pkey' }) readonly id!: string;
  @Column('text') readonly acquirer!: string;
  @Column('bytea') readonly sha256!: Buffer;
  @Sealed(`'callback:' || id`)
  @Column('bytea', { name: 'body_sealed' })
  readonly bodySealed!: Buffer;
  @Column('integer', { default: 1 }) readonly times!: number;
  @Column('text') readonly status!: string;
  @Column('integer') readonly hints!: number;
  @Column('timestamptz', { name: 'received_at' }) readonly receivedAt!: Date;
}
