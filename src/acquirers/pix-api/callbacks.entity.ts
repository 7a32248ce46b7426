import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('acquirer_callbacks')
@Unique('acquirer_callbacks_sha256_key', ['acquirer', 'sha256'])
@Index('acquirer_callbacks_received_at_idx', ['receivedAt'])
export class AcquirerCallbackEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'acquirer_callbacks_pkey' }) id!: string;
  @Column('text') acquirer!: string;
  @Column('bytea') sha256!: Buffer;
  @Column('bytea', { name: 'body_sealed' }) bodySealed!: Buffer;
  @Column('integer', { default: 1 }) times!: number;
  @Column('text', { default: 'pending' }) status!: string;
  @Column('integer', { nullable: true }) hints!: number | null;
  @Column('text', { name: 'last_error', nullable: true }) lastError!: string | null;
  @Column('timestamptz', { name: 'received_at' }) receivedAt!: Date;
}
