import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('fraud_hits')
@Index('fraud_hits_account_id_idx', ['accountId', 'id'])
export class FraudHitEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'fraud_hits_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: string;
  @Column('text') readonly code!: string;
  @Column('boolean') readonly enforced!: boolean;
  @Column('text') readonly operation!: string;
  @Column('bigint') readonly amount!: number;
  @Column('text', { name: 'masked_document', nullable: true }) readonly maskedDocument!: string | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}
