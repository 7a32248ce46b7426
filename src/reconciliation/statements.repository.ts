import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';

/**
 * What of an acquirer's list is read: what arrived, all the time; the same of the last days once a day, for what was
 * listed late; and that of which money went back, once a day.
 */
export const LISTS = ['payments', 'late_payments', 'returns'] as const;
export type StatementList = (typeof LISTS)[number];

/** How far a list has been read. */
export interface Progress {
  readonly acquirer: string;
  readonly list: StatementList;
  /** Everything before it has been read; null before the first pass. */
  readonly sweptUntil: Date | null;
  /** Where a pass in several goes is continued; null between passes. */
  readonly resumeAt: Date | null;
  /** While somebody reads it: the end of the lease. */
  readonly nextDueAt: Date;
  /** That failed since one did not. */
  readonly attempts: number;
}

const ENSURE = statement(
  'statements.ensure',
  `INSERT INTO acquirer_statements (acquirer, list, next_due_at)
   SELECT acquirer, list, $3 FROM unnest($1::text[]) acquirer CROSS JOIN unnest($2::text[]) list
   ON CONFLICT DO NOTHING`,
);
/** Only of acquirers that are still there. */
const CLAIM_DUE = statement(
  'statements.claim_due',
  `UPDATE acquirer_statements SET next_due_at = $3 WHERE (acquirer, list) IN (
     SELECT acquirer, list FROM acquirer_statements WHERE next_due_at <= $2 AND acquirer = ANY ($1::text[])
     ORDER BY next_due_at LIMIT $4 FOR UPDATE SKIP LOCKED)
   RETURNING acquirer, list`,
);
const FIND = statement(
  'statements.find',
  `SELECT acquirer, list, swept_until, resume_at, next_due_at, attempts FROM acquirer_statements
   WHERE acquirer = $1 AND list = $2`,
);
/** As for `save`. */
const RENEW = statement(
  'statements.renew',
  `UPDATE acquirer_statements SET next_due_at = $4 WHERE acquirer = $1 AND list = $2 AND next_due_at = $3 RETURNING list`,
);
/** Not when the lease was over and somebody else has begun. */
const SAVE = statement(
  'statements.save',
  `UPDATE acquirer_statements SET swept_until = $4, resume_at = $5, next_due_at = $6, attempts = $7, last_error = $8
   WHERE acquirer = $1 AND list = $2 AND next_due_at = $3`,
);

interface Row {
  acquirer: string;
  list: StatementList;
  swept_until: Date | null;
  resume_at: Date | null;
  next_due_at: Date;
  attempts: number;
}

@Injectable()
export class StatementsRepository {
  constructor(private readonly reader: Reader) {}

  ensure(tx: Tx, acquirers: readonly string[], now: Date): void {
    tx.defer(ENSURE, [acquirers, LISTS, now]);
  }

  async claimDue(
    tx: Tx,
    acquirers: readonly string[],
    now: Date,
    leasedUntil: Date,
    limit: number,
  ): Promise<Pick<Progress, 'acquirer' | 'list'>[]> {
    return tx.query(CLAIM_DUE, [acquirers, now, leasedUntil, limit]);
  }

  async find(acquirer: string, list: StatementList): Promise<Progress | null> {
    const [row] = await this.reader.query<Row>(FIND, [acquirer, list]);
    if (!row) return null;
    return {
      acquirer: row.acquirer,
      list: row.list,
      sweptUntil: row.swept_until,
      resumeAt: row.resume_at,
      nextDueAt: row.next_due_at,
      attempts: row.attempts,
    };
  }

  /** @returns the progress under its new lease; as it was when the lease is somebody else's by now */
  async renew(tx: Tx, held: Progress, leasedUntil: Date): Promise<Progress> {
    const { acquirer, list, nextDueAt } = held;
    const renewed = await tx.query(RENEW, [acquirer, list, nextDueAt, leasedUntil]);
    return renewed.length === 0 ? held : { ...held, nextDueAt: leasedUntil };
  }

  /** @param before as it was read: who has lost its lease changes nothing */
  save(tx: Tx, before: Progress, after: Omit<Progress, 'acquirer' | 'list'>, error: string | null): void {
    tx.defer(SAVE, [
      before.acquirer,
      before.list,
      before.nextDueAt,
      after.sweptUntil,
      after.resumeAt,
      after.nextDueAt,
      after.attempts,
      error,
    ]);
  }
}
