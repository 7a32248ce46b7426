import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

@Entity('sandbox_pix')
export class SandboxPixEntity {
  @PrimaryColumn('text', { name: 'end_to_end_id', primaryKeyConstraintName: 'sandbox_pix_pkey' }) endToEndId!: string;
  @Column('text') txid!: string;
  @Column('bigint') amount!: number;
  @Column('bytea', { name: 'payer_sealed' }) payerSealed!: Buffer;
  @Column('timestamptz', { name: 'settled_at' }) settledAt!: Date;
}

@Entity('sandbox_charges')
export class SandboxChargeEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'sandbox_charges_pkey' }) txid!: string;
  @Column('text') status!: string;
  @Column('timestamptz', { name: 'ended_at' }) endedAt!: Date;
}

@Entity('sandbox_returns')
export class SandboxReturnEntity {
  @ForeignKey('SandboxPixEntity', { name: 'sandbox_returns_end_to_end_id_fkey' })
  @PrimaryColumn('text', { name: 'end_to_end_id', primaryKeyConstraintName: 'sandbox_returns_pkey' })
  endToEndId!: string;
  @PrimaryColumn('text', { name: 'return_id', primaryKeyConstraintName: 'sandbox_returns_pkey' }) returnId!: string;
  @Column('bigint') amount!: number;
  @Column('timestamptz', { name: 'requested_at' }) requestedAt!: Date;
}
