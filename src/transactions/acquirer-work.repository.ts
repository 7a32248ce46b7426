import { Injectable } from '@nestjs/common';
import type { Artefacts } from '../acquirers/index.js';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { Transaction } from './transaction.js';
import { TRANSACTION_COLUMNS } from './transactions.repository.js';

/** Of several workers at once one gets it, until the lease is over. */
const CLAIM = statement(
  'acquirer_work.claim',
  `UPDATE transactions t SET acquirer_due_at = $3 WHERE t.id = $1 AND t.acquirer_due_at <= $2
   RETURNING ${TRANSACTION_COLUMNS}`,
);
const DUE = statement(
  'acquirer_work.due',
  'SELECT id FROM transactions WHERE acquirer_due_at <= $1 ORDER BY acquirer_due_at LIMIT $2',
);
/** Not when somebody has asked for more meanwhile: a cancellation during the call. */
const DONE = statement(
  'acquirer_work.done',
  'UPDATE transactions SET acquirer_due_at = $3 WHERE id = $1 AND acquirer_due_at = $2',
);
const WANT = statement('acquirer_work.want', 'UPDATE transactions SET acquirer_due_at = $2 WHERE id = $1');
/**
 * What was made is kept whatever has happened meanwhile. One that was cancelled during the call is there after all and
 * has to be taken back again. No row: another worker was faster.
 */
const ISSUED = statement(
  'acquirer_work.issued',
  `UPDATE transactions t SET artefacts = coalesce(t.artefacts, '{}') || $3::jsonb,
     acquirer_due_at = CASE WHEN t.status = 'CANCELLED' THEN $2::timestamptz ELSE $4::timestamptz END, updated_at = $2
   WHERE t.id = $1 AND (t.acquirer_due_at IS NOT NULL OR t.status = 'CANCELLED') RETURNING ${TRANSACTION_COLUMNS}`,
);

/** Which transactions an acquirer has to be called about, and what came of it. */
@Injectable()
export class AcquirerWorkRepository {
  constructor(private readonly reader: Reader) {}

  async claim(tx: Tx, id: string, now: Date, leasedUntil: Date): Promise<Transaction | null> {
    const [row] = await tx.query<Transaction>(CLAIM, [id, now, leasedUntil]);
    return row ?? null;
  }

  async due(before: Date, limit: number): Promise<string[]> {
    return (await this.reader.query<{ id: string }>(DUE, [before, limit])).map((row) => row.id);
  }

  /** @param again when to call again; null for never */
  done(tx: Tx, id: string, leasedUntil: Date, again: Date | null): void {
    tx.defer(DONE, [id, leasedUntil, again]);
  }

  want(tx: Tx, id: string, at: Date): void {
    tx.defer(WANT, [id, at]);
  }

  /** @param again when to call again for what is still missing; null when nothing is */
  async issued(tx: Tx, id: string, now: Date, artefacts: Artefacts, again: Date | null): Promise<Transaction | null> {
    const [row] = await tx.query<Transaction>(ISSUED, [id, now, JSON.stringify(artefacts), again]);
    return row ?? null;
  }
}
