import { Injectable } from '@nestjs/common';
import { columnsOf, Reader, read, write, type Tx } from '../../core/database/index.js';
import type { Scope } from '../../core/mode.js';
import { MedEvidenceEntity } from './evidence.entity.js';
import type { ConfirmedEvidence, Evidence } from './evidence.js';

const COLUMNS = columnsOf(MedEvidenceEntity, 'med_evidence');

/** Makes requests of one account wait for each other, so that the sum of bytes over several cases is right. */
const LOCK_ACCOUNT = write(
  'med_evidence.lock_account',
  `SELECT pg_advisory_xact_lock(hashtextextended('med_evidence/' || $1, 0))`,
);
/** Sums files that count, and files whose place in the storage may still be written or is not cleaned up yet. */
const BYTES = read(
  'med_evidence.bytes',
  `SELECT coalesce(sum(file_size), 0)::bigint AS bytes FROM med_evidence
   WHERE account_id = $1 AND mode = $2 AND (status = 'confirmed' OR expires_at > $3::timestamptz - interval '1 hour')`,
);
/** Inserts within the limit; the caller holds the case's lock, so the count is right. */
const INSERT = write(
  'med_evidence.insert',
  `INSERT INTO med_evidence (id, account_id, mode, case_id, file_name, file_size, mime_type, uploaded_by, status, created_at,
     expires_at)
   SELECT $1, $2, $3, $4, $5, $6, $7, $8, 'waiting', $9, $10
   WHERE (SELECT count(*) FROM med_evidence WHERE case_id = $4 AND (status = 'confirmed' OR expires_at > $9)) < $11
   RETURNING 1`,
);
const FIND = read('med_evidence.find', `SELECT ${COLUMNS} FROM med_evidence WHERE id = $1 AND case_id = $2`);
const LIST = read(
  'med_evidence.list',
  `SELECT ${COLUMNS} FROM med_evidence WHERE case_id = $1 AND status = 'confirmed' ORDER BY id DESC`,
);
const CONFIRM = write(
  'med_evidence.confirm',
  `UPDATE med_evidence SET status = 'confirmed', object_name = $2, uploaded_at = $3
   WHERE id = $1 AND status = 'waiting' RETURNING ${COLUMNS}`,
);
/** Marks evidence that was not confirmed, so that no file is confirmed while it is being removed. */
const ABANDON = write(
  'med_evidence.abandon',
  `UPDATE med_evidence SET status = CASE status WHEN 'waiting' THEN 'abandoned' ELSE status END WHERE id = $1
   RETURNING ${COLUMNS}`,
);
const DISCARD = write(
  'med_evidence.discard',
  `UPDATE med_evidence SET status = 'abandoned', object_name = NULL, uploaded_at = NULL WHERE id = $1 AND status = $2
   RETURNING 1`,
);
const FORGET = write('med_evidence.forget', `DELETE FROM med_evidence WHERE id = $1 AND status = 'abandoned'`);

/** Stores evidence of cases that the service has found for its caller: no query here checks the account. */
@Injectable()
export class EvidenceRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * @param limit of evidence that counts or still can
   * @returns false when the case has reached the limit
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

  /** Returns the account's bytes in the mode, locked until the end of `tx`. */
  async lockBytes(tx: Tx, { accountId, mode }: Scope, now: Date): Promise<number> {
    await tx.query(LOCK_ACCOUNT, [`${accountId}/${mode}`]);
    const [row] = await tx.query<{ bytes: number }>(BYTES, [accountId, mode, now]);
    return row?.bytes ?? 0;
  }

  async find(caseId: string, id: string): Promise<Evidence | ConfirmedEvidence | null> {
    return this.reader.first<Evidence | ConfirmedEvidence>(FIND, [id, caseId]);
  }

  /** Newest first. */
  async list(caseId: string): Promise<ConfirmedEvidence[]> {
    return this.reader.query(LIST, [caseId]);
  }

  /** @returns null when it does not wait any more: of two calls at once, one succeeds */
  async confirm(tx: Tx, id: string, objectName: string, at: Date): Promise<ConfirmedEvidence | null> {
    return tx.first<ConfirmedEvidence>(CONFIRM, [id, objectName, at]);
  }

  /** Abandons the evidence if it still waits. @returns null when it does not exist any more */
  async abandon(tx: Tx, id: string): Promise<Evidence | ConfirmedEvidence | null> {
    return tx.first<Evidence | ConfirmedEvidence>(ABANDON, [id]);
  }

  /**
   * Discards evidence, so that it does not count any more and its file is removed.
   * @param from the status in which it was read
   * @returns false when it has moved since
   */
  async discard(tx: Tx, id: string, from: Evidence['status']): Promise<boolean> {
    return (await tx.query(DISCARD, [id, from])).length > 0;
  }

  /** Removes abandoned evidence; confirmed evidence stays. */
  forget(tx: Tx, id: string): void {
    tx.defer(FORGET, [id]);
  }
}
