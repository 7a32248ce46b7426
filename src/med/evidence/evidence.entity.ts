import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../../core/database/index.js';
import type { Mode } from '../../core/mode.js';
import type { EvidenceType } from './evidence-types.js';

export class Evidence {
  /** The id, which is also the key in the object storage. */
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'med_evidence_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('uuid', { name: 'case_id' })
  readonly caseId!: string;
  /** The sender's name of the file: text for people, never a path. */
  @NotPersonal('the name of a file that is kept as evidence, with its case')
  @Column('text', { name: 'file_name' })
  readonly fileName!: string;
  /** Bytes. */
  @Column('integer', { name: 'file_size' }) readonly fileSize!: number;
  @Column('text', { name: 'mime_type' }) readonly mimeType!: EvidenceType;
  @Column('text', { name: 'uploaded_by' }) readonly uploadedBy!: 'merchant' | 'partner' | 'platform';
  /** `abandoned`: the upload was not confirmed in time and will be removed. */
  @Column('text') readonly status!: 'waiting' | 'confirmed' | 'abandoned';
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  /** When the URL for the upload expires. */
  @Column('timestamptz', { name: 'expires_at' }) readonly expiresAt!: Date;
}

@Entity('med_evidence')
export class MedEvidenceEntity extends Evidence {
  /** The name of the file in the object storage. */
  @NotPersonal('an id')
  @Column('text', { name: 'object_name', nullable: true })
  readonly objectName!: string | null;
  @Column('timestamptz', { name: 'uploaded_at', nullable: true }) readonly uploadedAt!: Date | null;
}
