import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('med_evidence')
@Index('med_evidence_case_id_idx', ['caseId', 'id'])
@Index('med_evidence_cleanup_idx', ['cleanupAt'], { where: 'cleanup_at IS NOT NULL' })
export class MedEvidenceEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'med_evidence_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: string;
  @ForeignKey('MedCaseEntity', { name: 'med_evidence_case_id_fkey' })
  @Column('uuid', { name: 'case_id' })
  readonly caseId!: string;
  @Column('text', { name: 'file_name' }) readonly fileName!: string;
  @Column('integer', { name: 'file_size' }) readonly fileSize!: number;
  @Column('text', { name: 'mime_type' }) readonly mimeType!: string;
  @Column('text', { name: 'uploaded_by' }) readonly uploadedBy!: string;
  @Column('text') readonly status!: string;
  @Column('text', { name: 'object_name', nullable: true }) readonly objectName!: string | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) readonly expiresAt!: Date;
  @Column('timestamptz', { name: 'uploaded_at', nullable: true }) readonly uploadedAt!: Date | null;
  @Column('timestamptz', { name: 'cleanup_at', nullable: true }) readonly cleanupAt!: Date | null;
}
