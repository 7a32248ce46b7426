import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('med_evidence')
@Index('med_evidence_case_id_idx', ['caseId', 'id'])
export class MedEvidenceEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'med_evidence_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @ForeignKey('MedCaseEntity', { name: 'med_evidence_case_id_fkey' })
  @Column('uuid', { name: 'case_id' })
  caseId!: string;
  @Column('text', { name: 'file_name' }) fileName!: string;
  @Column('integer', { name: 'file_size' }) fileSize!: number;
  @Column('text', { name: 'mime_type' }) mimeType!: string;
  @Column('text', { name: 'uploaded_by' }) uploadedBy!: string;
  @Column('text') status!: string;
  @Column('text', { name: 'object_name', nullable: true }) objectName!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'uploaded_at', nullable: true }) uploadedAt!: Date | null;
}
