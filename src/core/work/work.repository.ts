import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import {
  BY_INDEX,
  columnsOf,
  insertInto,
  read,
  Reader,
  rowWrite,
  type Tx,
  valuesOfFields,
  wanted,
  write,
  writeRow,
} from '../database/index.js';
import { OperatorQueues } from '../operator-queues.js';
import { WorkEntity } from './work.entity.js';

/** A piece of work as operators see it. */
export type WorkItem = Omit<WorkEntity, 'leaseId'>;

const CLAIMED = ['kind', 'subjectId', 'attempts', 'leaseId'] as const;

/** A piece of work claimed by this process. */
export type ClaimedWork = Pick<WorkEntity, (typeof CLAIMED)[number]>;

/** When the work is due again, the attempts counted by then, and its error; null without an error. */
export interface PutOff {
  readonly dueAt: Date;
  readonly attempts: number;
  readonly error: string | null;
  readonly now: Date;
}

/** Number of further runs of a kind that this process can take. */
export interface WorkRoom {
  readonly kind: string;
  readonly room: number;
  readonly leaseMs: number;
}

/** Times of a claim. Due times are compared with the service's clock, leases with the database's clock. */
export interface WorkTimes {
  readonly now: Date;
  /** Offset of the clock that `now` is from. */
  readonly offsetMs: number;
}

/** Work that is overdue for less is not listed: it is about to run. */
const OVERDUE_MS = 60_000;

const COLUMNS = columnsOf(WorkEntity, 'w', { without: ['leaseId'] });

/**
 * Returns a time by the clock of the database: a worker whose own clock is ahead would take work from others that still
 * run it.
 */
const inMs = (parameter: string): string => `now() + make_interval(secs => ${parameter}::float8 / 1000)`;
const free = (offsetMs: string): string => `(w.leased_until IS NULL OR w.leased_until <= ${inMs(offsetMs)})`;

/** Adding work that is there already restarts it; a current run no longer decides its outcome. */
const ADD = insertInto('work.add', WorkEntity, {
  without: ['attempts', 'leaseId', 'leasedUntil', 'lastError', 'failingSince'],
  after: `ON CONFLICT (kind, subject_id) DO UPDATE
   SET due_at = excluded.due_at, attempts = 0, lease_id = NULL, leased_until = NULL, last_error = NULL,
     failing_since = NULL`,
});
/** Conditions of the two lines in which work of a kind waits; each line has its own index. */
const NEW_LINE = 'w.attempts = 0';
const RETRY_LINE = 'w.attempts > 0';
const due = (line: string): string => `SELECT w.kind, w.subject_id, w.due_at FROM work w
       WHERE w.kind = k.kind AND ${line} AND w.due_at <= $1 AND ${free('$6')}
       ORDER BY w.due_at LIMIT k.room FOR UPDATE SKIP LOCKED`;
/**
 * Takes from both lines in turn, so that failing work does not delay new work, nor the other way round. With room for a
 * single one, $7 draws the line that begins.
 * Why MATERIALIZED: otherwise a plan may search again for each updated row, and find more every time.
 */
const CLAIM = write(
  'work.claim',
  `WITH taken AS MATERIALIZED (
     SELECT due.kind, due.subject_id, ${inMs('(k.lease_ms + $6::float8)')} AS leased_until
     FROM unnest($2::text[], $3::int[], $4::int[]) AS k (kind, room, lease_ms)
     CROSS JOIN LATERAL (
       SELECT kind, subject_id, row_number() OVER (ORDER BY due_at) AS place, $7::boolean AS is_second
       FROM (${due(NEW_LINE)}) f
       UNION ALL
       SELECT kind, subject_id, row_number() OVER (ORDER BY due_at), NOT $7 FROM (${due(RETRY_LINE)}) a
       ORDER BY place, is_second LIMIT k.room) due)
   UPDATE work t SET attempts = t.attempts + 1, lease_id = $5, leased_until = c.leased_until
   FROM taken c
   WHERE t.kind = c.kind AND t.subject_id = c.subject_id
   RETURNING ${columnsOf(WorkEntity, 't', { only: CLAIMED })}`,
);
const CLAIM_ONE = write(
  'work.claim_one',
  `UPDATE work w SET attempts = w.attempts + 1, lease_id = $3, leased_until = ${inMs('$4')}
   WHERE w.kind = $1 AND w.subject_id = $2
   RETURNING ${columnsOf(WorkEntity, 'w', { only: CLAIMED })}`,
);
const PROLONG = write(
  'work.prolong',
  `UPDATE work w SET leased_until = ${inMs('$4')}
   WHERE w.kind = $1 AND w.subject_id = $2 AND w.lease_id = $3 RETURNING 1`,
);
const FINISH = rowWrite<ClaimedWork>(
  write('work.finish', 'DELETE FROM work WHERE kind = $1 AND subject_id = $2 AND lease_id = $3'),
  write(
    'work.finish_each',
    `DELETE FROM work t USING ${wanted(['text', 'uuid', 'uuid'])}
     WHERE t.kind = w.p1 AND t.subject_id = w.p2 AND t.lease_id = w.p3`,
  ),
  ({ kind, subjectId, leaseId }) => [kind, subjectId, leaseId],
);
const putOff = (dueAt: string, attempts: string, error: string, now: string): string =>
  `SET due_at = ${dueAt}, attempts = ${attempts}, lease_id = NULL, leased_until = NULL, last_error = ${error},
     failing_since = CASE WHEN ${error}::text IS NOT NULL THEN coalesce(failing_since, ${now}::timestamptz) END`;
const AGAIN = rowWrite<ClaimedWork & PutOff>(
  write(
    'work.again',
    `UPDATE work ${putOff('$4', '$5', '$6', '$7')} WHERE kind = $1 AND subject_id = $2 AND lease_id = $3`,
  ),
  write(
    'work.again_each',
    `UPDATE work t ${putOff('w.p4', 'w.p5', 'w.p6', 'w.p7')}
     FROM ${wanted(['text', 'uuid', 'uuid', 'timestamptz', 'int', 'text', 'timestamptz'])}
     WHERE t.kind = w.p1 AND t.subject_id = w.p2 AND t.lease_id = w.p3`,
  ),
  ({ kind, subjectId, leaseId, dueAt, attempts, error, now }) => [
    kind,
    subjectId,
    leaseId,
    dueAt,
    attempts,
    error,
    now,
  ],
);
const RETRY = write(
  'work.retry',
  `UPDATE work w SET due_at = $1, lease_id = NULL, leased_until = NULL
   WHERE w.kind = $2 AND w.subject_id = $3 AND ${free('$4')}
   RETURNING ${COLUMNS}`,
);
const OVERDUE = read(
  'work.overdue',
  `SELECT ${COLUMNS} FROM work w
   WHERE (w.due_at <= $1 OR w.last_error IS NOT NULL) AND ($2::text IS NULL OR w.kind = $2)
   ORDER BY w.due_at, w.kind, w.subject_id LIMIT $3`,
);
/** Counts the work that OVERDUE lists, with the time since when the oldest is due or fails. */
const COUNT_OVERDUE = read(
  'work.count_overdue',
  `SELECT count(*)::int AS waiting, min(least(coalesce(w.failing_since, w.due_at), $1::timestamptz)) AS since FROM work w
   WHERE w.due_at <= $1 OR w.last_error IS NOT NULL`,
);
const LAGS = read('work.lags', 'SELECT kind, min(due_at) AS "dueAt" FROM work WHERE due_at <= $1 GROUP BY kind');

@Injectable()
export class WorkRepository {
  constructor(
    private readonly reader: Reader,
    private readonly clock: Clock,
    queues: OperatorQueues,
  ) {
    queues.register('work', COUNT_OVERDUE, () => [this.#overdueBefore()]);
  }

  add(tx: Tx, kind: string, subjectId: string, dueAt: Date): void {
    writeRow(tx, ADD, { kind, subjectId, dueAt });
  }

  /**
   * Claims the work that is due longest. Each piece gets one attempt more and a lease that keeps other workers away.
   */
  async claim(
    tx: Tx,
    { now, offsetMs }: WorkTimes,
    rooms: readonly WorkRoom[],
    againFirst: boolean,
  ): Promise<ClaimedWork[]> {
    tx.defer(BY_INDEX, []);
    return tx.query(CLAIM, [
      now,
      ...valuesOfFields(rooms, 'kind', 'room', 'leaseMs'),
      randomUUID(),
      offsetMs,
      againFirst,
    ]);
  }

  /**
   * Claims one piece of work, due or not, and even while another process runs it.
   * @param leaseMs counted by the clock of the database
   * @returns null when there is none
   */
  async claimOne(tx: Tx, kind: string, subjectId: string, leaseMs: number): Promise<ClaimedWork | null> {
    return tx.first<ClaimedWork>(CLAIM_ONE, [kind, subjectId, randomUUID(), leaseMs]);
  }

  /** @param leaseMs counted by the clock of the database @returns false when another run owns the work */
  async prolong(tx: Tx, { kind, subjectId, leaseId }: ClaimedWork, leaseMs: number): Promise<boolean> {
    return (await tx.query(PROLONG, [kind, subjectId, leaseId, leaseMs])).length > 0;
  }

  /** Removes the work, if this run still owns it. */
  finish(tx: Tx, claimed: ClaimedWork): void {
    writeRow(tx, FINISH, claimed);
  }

  /** Puts the work off, if this run still owns it. */
  again(tx: Tx, claimed: ClaimedWork, putOff: PutOff): void {
    writeRow(tx, AGAIN, { ...claimed, ...putOff });
  }

  /** Makes the work due now. @returns null when there is none, or it runs */
  async retry(tx: Tx, { now, offsetMs }: WorkTimes, kind: string, subjectId: string): Promise<WorkItem | null> {
    return tx.first<WorkItem>(RETRY, [now, kind, subjectId, offsetMs]);
  }

  /** Lists overdue and failed work; due longest first. @param kind null for all kinds */
  async overdue(kind: string | null, limit: number): Promise<WorkItem[]> {
    return this.reader.query(OVERDUE, [this.#overdueBefore(), kind, limit]);
  }

  /** Returns for each kind since when its oldest due work is due. */
  async lags(now: Date): Promise<Map<string, Date>> {
    const rows = await this.reader.query<WorkItem>(LAGS, [now]);
    return new Map(rows.map((row) => [row.kind, row.dueAt]));
  }

  #overdueBefore(): Date {
    return new Date(this.clock.now().getTime() - OVERDUE_MS);
  }
}
