import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('fraud_hits')
@Index('fraud_hits_account_id_idx', ['accountId', 'id'])
export class FraudHitEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'fraud_hits_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @Column('text') code!: string;
  @Column('boolean') enforced!: boolean;
  @Column('text') operation!: string;
  @Column('bigint') amount!: number;
  @Column('text', { name: 'masked_document', nullable: true }) maskedDocument!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
