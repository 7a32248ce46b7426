import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, removeDue, type Tx, write } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idBound, idRange } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import type { StoredObject } from '../storage/index.js';
import { ReportEntity } from './report.entity.js';
import { DAY_MS } from '../core/clock.js';
import { Retained } from '../core/retention.js';

const ROW_KEPT_MS = 90 * DAY_MS;

const COLUMNS = columnsOf(ReportEntity, 'r');

/** Number and size of reports of one account and mode. */
export interface ReportUse {
  readonly unfinished: number;
  /** Files that are stored or being made. */
  readonly files: number;
  /** Bytes of stored files. */
  readonly size: number;
  /** When the next file expires; null when there is none. */
  readonly expiresAt: Date | null;
}

const LOCK = write(
  'reports.lock',
  `SELECT pg_advisory_xact_lock(hashtextextended('reports:' || $1::text || '/' || $2::text, 0))`,
);
const USE = read(
  'reports.use',
  `SELECT count(*) FILTER (WHERE status IN ('pending', 'processing')) AS unfinished, count(*) AS files,
     coalesce(sum(size), 0)::bigint AS size, min(expires_at) AS "expiresAt"
   FROM reports WHERE account_id = $1 AND mode = $2 AND status IN ('pending', 'processing', 'ready')`,
);
const INSERT = insertInto('reports.insert', ReportEntity, {
  without: ['rows', 'totalRows', 'size', 'objectName', 'readyAt', 'expiresAt'],
  after: `RETURNING ${columnsOf(ReportEntity, 'reports')}`,
});
const FIND = read('reports.find', `SELECT ${COLUMNS} FROM reports r WHERE r.id = $1`);
const LIST = read(
  'reports.list',
  `SELECT ${COLUMNS} FROM reports r WHERE r.account_id = $1 AND r.mode = $2
     AND r.id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND r.id >= $4::uuid AND r.id <= $5::uuid
   ORDER BY r.id DESC LIMIT $6`,
);
const BEGIN = write(
  'reports.begin',
  `UPDATE reports r SET status = 'processing', rows = 0, total_rows = NULL
   WHERE r.id = $1 AND r.status IN ('pending', 'processing') RETURNING ${COLUMNS}`,
);
const PROGRESS = write(
  'reports.progress',
  `UPDATE reports SET rows = $2, total_rows = $3 WHERE id = $1 AND status = 'processing'`,
);
const READY = write(
  'reports.ready',
  `UPDATE reports r SET status = 'ready', rows = $2, total_rows = $2, object_name = $3, size = $4, ready_at = $5,
     expires_at = $6
   WHERE r.id = $1 AND r.status = 'processing' RETURNING ${COLUMNS}`,
);
const FAIL = write(
  'reports.fail',
  `UPDATE reports r SET status = 'failed' WHERE r.id = $1 AND r.status = 'processing' RETURNING ${COLUMNS}`,
);
const EXPIRE = write(
  'reports.expire',
  `UPDATE reports SET status = 'expired', object_name = NULL WHERE id = $1 AND status = 'ready'`,
);
const EXPIRE_ALL = write(
  'reports.expire_all',
  `WITH forgotten AS (
     UPDATE reports SET filters = filters || '{"query": null}' WHERE account_id = $1 AND filters ->> 'query' IS NOT NULL
       AND status NOT IN ('pending', 'processing', 'ready')
   )
   UPDATE reports SET status = 'expired', object_name = NULL,
     filters = CASE WHEN filters ->> 'query' IS NULL THEN filters ELSE filters || '{"query": null}' END
   WHERE account_id = $1 AND status IN ('pending', 'processing', 'ready') RETURNING id`,
);
const EXPIRE_OLDEST = write(
  'reports.expire_oldest',
  `UPDATE reports SET status = 'expired', object_name = NULL
   WHERE status = 'ready' AND id = (
     SELECT id FROM reports WHERE account_id = $1 AND mode = $2 AND status = 'ready' ORDER BY id LIMIT 1) RETURNING id`,
);
const NEXT_PENDING = read(
  'reports.next_pending',
  `SELECT id FROM reports WHERE account_id = $1 AND mode = $2 AND status = 'pending' ORDER BY id LIMIT 1`,
);
const REMOVE = removeDue('reports.remove', 'reports', { dueAt: 'id', where: `status IN ('failed', 'expired')` });

@Injectable()
export class ReportsRepository {
  constructor(private readonly reader: Reader) {}

  /** Locks the use of an account: other requests for reports wait until the end of `tx`. */
  async lockUse(tx: Tx, { accountId, mode }: Scope): Promise<ReportUse> {
    tx.defer(LOCK, [accountId, mode]);
    const [use] = await tx.query<ReportUse & Record<string, unknown>>(USE, [accountId, mode]);
    return use ?? { unfinished: 0, files: 0, size: 0, expiresAt: null };
  }

  async insert(tx: Tx, report: Parameters<typeof INSERT.valuesOf>[0]): Promise<ReportEntity> {
    const [row] = await tx.query<ReportEntity & Record<string, unknown>>(INSERT, INSERT.valuesOf(report));
    if (!row) throw new Error('An insert gives its row');
    return row;
  }

  async find(id: string): Promise<ReportEntity | null> {
    return this.reader.first<ReportEntity & Record<string, unknown>>(FIND, [id]);
  }

  /** Newest first. */
  async list(scope: Scope, { before, createdFrom, createdTo, limit }: IdCursorFilter): Promise<ReportEntity[]> {
    const range = idRange(createdFrom, createdTo);
    return this.reader.query<ReportEntity & Record<string, unknown>>(LIST, [
      ...[scope.accountId, scope.mode, before, ...range, limit],
    ]);
  }

  /** @returns null when the report must no longer be made */
  async begin(tx: Tx, id: string): Promise<ReportEntity | null> {
    return this.#move(tx, BEGIN, [id]);
  }

  progress(tx: Tx, id: string, rows: number, totalRows: number): void {
    tx.defer(PROGRESS, [id, rows, totalRows]);
  }

  /** @returns null when the report is no longer being made */
  async ready(
    tx: Tx,
    id: string,
    rows: number,
    { name, size }: StoredObject,
    readyAt: Date,
    expiresAt: Date,
  ): Promise<ReportEntity | null> {
    return this.#move(tx, READY, [id, rows, name, size, readyAt, expiresAt]);
  }

  /** Marks a report as failed, under the conditions of `ready`. */
  async fail(tx: Tx, id: string): Promise<ReportEntity | null> {
    return this.#move(tx, FAIL, [id]);
  }

  expire(tx: Tx, id: string): void {
    tx.defer(EXPIRE, [id]);
  }

  /** @returns the id of the oldest file, which belongs to no report after the commit; null when there is none */
  async expireOldest(tx: Tx, { accountId, mode }: Scope): Promise<string | null> {
    const [row] = await tx.query<{ id: string }>(EXPIRE_OLDEST, [accountId, mode]);
    return row?.id ?? null;
  }

  /** Selects the pending report to make next. */
  async nextPending(tx: Tx, { accountId, mode }: Scope): Promise<string | null> {
    const [row] = await tx.query<{ id: string }>(NEXT_PENDING, [accountId, mode]);
    return row?.id ?? null;
  }

  /**
   * Expires all reports of an account in both modes, including those in progress, and erases their search texts.
   * @returns their ids
   */
  async expireAll(tx: Tx, accountId: string): Promise<string[]> {
    return (await tx.query<{ id: string }>(EXPIRE_ALL, [accountId])).map(({ id }) => id);
  }

  /** Removes reports after their retention. */
  @Retained('reports', ROW_KEPT_MS)
  async remove(tx: Tx, before: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE, [idBound(before, 'min'), limit])).length;
  }

  async #move(tx: Tx, statement: typeof BEGIN, values: readonly unknown[]): Promise<ReportEntity | null> {
    return tx.first<ReportEntity & Record<string, unknown>>(statement, values);
  }
}
