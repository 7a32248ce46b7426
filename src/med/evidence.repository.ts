import { Injectable } from '@nestjs/common';
import { columnsOf, Reader, statement, type Tx } from '../core/database/index.js';
import { MedEvidenceEntity } from './evidence.entity.js';
import type { ConfirmedEvidence, Evidence } from './evidence.js';

const COLUMNS = columnsOf(MedEvidenceEntity, 'med_evidence', { without: ['cleanupAt'] });

/** The caller holds the case's lock, so the count is right. */
const INSERT = statement(
  'med_evidence.insert',
  `INSERT INTO med_evidence (id, account_id, mode, case_id, file_name, file_size, mime_type, uploaded_by, status, created_at,
     expires_at, cleanup_at)
   SELECT $1, $2, $3, $4, $5, $6, $7, $8, 'waiting', $9, $10, $11
   WHERE (SELECT count(*) FROM med_evidence WHERE case_id = $4 AND (status = 'confirmed' OR expires_at > $9)) < $12
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
const CLAIM = statement(
  'med_evidence.claim',
  `UPDATE med_evidence SET cleanup_at = $2, status = CASE status WHEN 'waiting' THEN 'abandoned' ELSE status END
   WHERE id IN (
     SELECT id FROM med_evidence WHERE cleanup_at <= $1 ORDER BY cleanup_at LIMIT $3 FOR UPDATE SKIP LOCKED)
   RETURNING id, object_name AS "objectName"`,
);
const FORGET = statement('med_evidence.forget', `DELETE FROM med_evidence WHERE id = $1 AND status = 'abandoned'`);
const CLEANED = statement('med_evidence.cleaned', 'UPDATE med_evidence SET cleanup_at = NULL WHERE id = $1');

/** Evidence of cases that the caller has found for whoever asks: no query here knows an account. */
@Injectable()
export class EvidenceRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * @param cleanupAt when what is left of it is removed
   * @param limit of evidence that counts or still can
   * @returns false when the case has as many already
   */
  async insert(tx: Tx, e: Evidence, cleanupAt: Date, limit: number): Promise<boolean> {
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
      cleanupAt,
      limit,
    ]);
    return inserted.length > 0;
  }

  async find(caseId: string, id: string): Promise<Evidence | ConfirmedEvidence | null> {
    const [row] = await this.reader.query<Evidence | ConfirmedEvidence>(FIND, [id, caseId]);
    return row ?? null;
  }

  /** Newest first. */
  async list(caseId: string): Promise<ConfirmedEvidence[]> {
    return this.reader.query(LIST, [caseId]);
  }

  /** @returns null when it waits no more: of two at once one gets it */
  async confirm(tx: Tx, id: string, objectName: string, at: Date): Promise<ConfirmedEvidence | null> {
    const [row] = await tx.query<ConfirmedEvidence>(CONFIRM, [id, objectName, at]);
    return row ?? null;
  }

  /** What is due to be cleaned up, nobody else's until `leasedUntil`. Whatever of it still waited is abandoned. */
  async claim(
    tx: Tx,
    now: Date,
    leasedUntil: Date,
    limit: number,
  ): Promise<{ id: string; objectName: string | null }[]> {
    return tx.query(CLAIM, [now, leasedUntil, limit]);
  }

  /** Its files are removed: what was abandoned is gone, what was confirmed stays as it is. */
  finish(tx: Tx, id: string): void {
    tx.defer(FORGET, [id]);
    tx.defer(CLEANED, [id]);
  }
}
