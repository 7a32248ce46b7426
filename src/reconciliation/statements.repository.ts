import { Injectable } from '@nestjs/common';
import { claimDue, columnsOf, read, Reader, write, type Tx } from '../core/database/index.js';
import { AcquirerStatementEntity, type StatementList } from './statements.entity.js';

/** How far a list has been read. */
export type Progress = Omit<AcquirerStatementEntity, 'lastError'>;

const ENSURE = write(
  'statements.ensure',
  `INSERT INTO acquirer_statements (acquirer, list, next_due_at)
   SELECT acquirer, list, $3 FROM unnest($1::text[]) acquirer CROSS JOIN unnest($2::text[]) list
   ON CONFLICT DO NOTHING`,
);
/** Claims due lists, only of acquirers that still exist. */
const CLAIM = claimDue('statements.claim_due', 'acquirer_statements', {
  key: 'ctid',
  dueAt: 'next_due_at',
  where: 'acquirer = ANY ($3::text[])',
  set: 'next_due_at = $4',
  returning: 'acquirer, list',
});
const FIND = read(
  'statements.find',
  `SELECT ${columnsOf(AcquirerStatementEntity, 's', { without: ['lastError'] })} FROM acquirer_statements s
   WHERE acquirer = $1 AND list = $2`,
);
/** Renews a lease, under the conditions of `save`. */
const RENEW = write(
  'statements.renew',
  `UPDATE acquirer_statements SET next_due_at = $4 WHERE acquirer = $1 AND list = $2 AND next_due_at = $3 RETURNING list`,
);
/** Saves nothing if the lease has ended and another worker has begun. */
const SAVE = write(
  'statements.save',
  `UPDATE acquirer_statements SET swept_until = $4, resume_at = $5, next_due_at = $6, attempts = $7, last_error = $8
   WHERE acquirer = $1 AND list = $2 AND next_due_at = $3`,
);

@Injectable()
export class StatementsRepository {
  constructor(private readonly reader: Reader) {}

  ensure(tx: Tx, acquirers: readonly string[], lists: readonly StatementList[], now: Date): void {
    tx.defer(ENSURE, [acquirers, lists, now]);
  }

  async claimDue(
    tx: Tx,
    acquirers: readonly string[],
    now: Date,
    leasedUntil: Date,
    limit: number,
  ): Promise<Pick<Progress, 'acquirer' | 'list'>[]> {
    return tx.query(CLAIM, [now, limit, acquirers, leasedUntil]);
  }

  async find(acquirer: string, list: StatementList): Promise<Progress | null> {
    return this.reader.first<Progress>(FIND, [acquirer, list]);
  }

  /** @returns the progress under its new lease; unchanged when another worker now holds the lease */
  async renew(tx: Tx, held: Progress, leasedUntil: Date): Promise<Progress> {
    const { acquirer, list, nextDueAt } = held;
    const renewed = await tx.query(RENEW, [acquirer, list, nextDueAt, leasedUntil]);
    return renewed.length === 0 ? held : { ...held, nextDueAt: leasedUntil };
  }

  /** @param before the progress as it was read: a worker that has lost its lease changes nothing */
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
