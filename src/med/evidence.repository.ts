import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { ConfirmedEvidence, Evidence } from './evidence.js';
import type { EvidenceType } from './evidence-types.js';

const COLUMNS = `id, account_id, mode, case_id, file_name, file_size, mime_type, uploaded_by, status, object_name, created_at,
  expires_at, uploaded_at`;

/** The caller holds the case's lock, so the count is right. */
const INSERT = statement(
  'med_evidence.insert',
  `INSERT INTO med_evidence (id, account_id, mode, case_id, file_name, file_size, mime_type, uploaded_by, status, created_at,
     expires_at)
   SELECT $1, $2, $3, $4, $5, $6, $7, $8, 'waiting', $9, $10
   WHERE (SELECT count(*) FROM med_evidence WHERE case_id = $4 AND (status = 'confirmed' OR expires_at > $9)) < $11
   RETURNING 1`,
);
const FIND = statement('med_evidence.find', `SELECT ${COLUMNS} FROM med_evidence WHERE id = $1 AND case_id = $2`);
const LIST = statement(
  'med_evidence.list',
  `SELECT ${COLUMNS} FROM med_evidence WHERE case_id = $1 AND status = 'confirmed' ORDER BY id DESC`,
);
const CONFIRM = statement(
  'med_evidence.confirm',
  `UPDATE med_evidence SET status = 'confirmed', object_name = $2, uploaded_at = $3
   WHERE id = $1 AND status = 'waiting' RETURNING ${COLUMNS}`,
);
/** From here on it cannot be confirmed any more, so nobody can confirm a file while it is being removed. */
const ABANDON = statement(
  'med_evidence.abandon',
  `UPDATE med_evidence SET status = CASE status WHEN 'waiting' THEN 'abandoned' ELSE status END WHERE id = $1
   RETURNING object_name`,
);
const FORGET = statement('med_evidence.forget', `DELETE FROM med_evidence WHERE id = $1 AND status = 'abandoned'`);

interface Row {
  id: string;
  account_id: string;
  mode: Mode;
  case_id: string;
  file_name: string;
  file_size: number;
  mime_type: EvidenceType;
  uploaded_by: Evidence['uploadedBy'];
  status: Evidence['status'];
  object_name: string | null;
  created_at: Date;
  expires_at: Date;
  uploaded_at: Date | null;
}

function toEvidence(row: Row): Evidence | ConfirmedEvidence {
  const evidence: Evidence = {
    id: row.id,
    accountId: row.account_id,
    mode: row.mode,
    caseId: row.case_id,
    fileName: row.file_name,
    fileSize: row.file_size,
    mimeType: row.mime_type,
    uploadedBy: row.uploaded_by,
    status: row.status,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
  if (row.object_name === null || row.uploaded_at === null) return evidence;
  return { ...evidence, status: 'confirmed', objectName: row.object_name, uploadedAt: row.uploaded_at };
}

/** Evidence of cases that the caller has found for whoever asks: no query here knows an account. */
@Injectable()
export class EvidenceRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * @param limit of evidence that counts or still can
   * @returns false when the case has as many already
   */
  async insert(tx: Tx, e: Evidence, limit: number): Promise<boolean> {
    const inserted = await tx.query(INSERT, [
      e.id,
      e.accountId,
      e.mode,
      e.caseId,
      e.fileName,
      e.fileSize,
      e.mimeType,
      e.uploadedBy,
      e.createdAt,
      e.expiresAt,
      limit,
    ]);
    return inserted.length > 0;
  }

  async find(caseId: string, id: string): Promise<Evidence | ConfirmedEvidence | null> {
    const [row] = await this.reader.query<Row>(FIND, [id, caseId]);
    return row ? toEvidence(row) : null;
  }

  /** Newest first. */
  async list(caseId: string): Promise<ConfirmedEvidence[]> {
    return (await this.reader.query<Row>(LIST, [caseId])).map((row) => toEvidence(row) as ConfirmedEvidence);
  }

  /** @returns null when it waits no more: of two at once one gets it */
  async confirm(tx: Tx, id: string, objectName: string, at: Date): Promise<ConfirmedEvidence | null> {
    const [row] = await tx.query<Row>(CONFIRM, [id, objectName, at]);
    return row ? (toEvidence(row) as ConfirmedEvidence) : null;
  }

  /** Whatever still waited is abandoned. @returns null when it is gone */
  async abandon(tx: Tx, id: string): Promise<{ objectName: string | null } | null> {
    const [row] = await tx.query<{ object_name: string | null }>(ABANDON, [id]);
    return row ? { objectName: row.object_name } : null;
  }

  /** Removes what was abandoned; what was confirmed stays as it is. */
  forget(tx: Tx, id: string): void {
    tx.defer(FORGET, [id]);
  }
}
