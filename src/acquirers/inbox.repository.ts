import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { NotificationHint } from './acquirer.port.js';

export interface Notification {
  readonly id: string;
  readonly acquirer: string;
  readonly kind: NotificationHint['kind'];
  readonly reference: string;
  readonly attempts: number;
  /** How often it was told. */
  readonly hints: number;
}

/**
 * A repeated notification finds its row; one that was set aside is looked at again, and so is an applied one of what
 * goes on changing ($7).
 */
const INSERT = statement(
  'inbox.insert',
  `INSERT INTO acquirer_notifications AS n (id, acquirer, kind, reference, received_at, next_attempt_at)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (acquirer, kind, reference) DO UPDATE
     SET hints = n.hints + 1,
         status = CASE WHEN n.status = 'ignored' OR $7 THEN 'pending' ELSE n.status END,
         attempts = CASE WHEN n.status = 'ignored' OR ($7 AND n.status = 'applied') THEN 0 ELSE n.attempts END,
         next_attempt_at = CASE WHEN n.status = 'ignored' OR ($7 AND n.status = 'applied')
           THEN excluded.next_attempt_at ELSE least(n.next_attempt_at, excluded.next_attempt_at) END
   RETURNING id, status`,
);
const FIND_PENDING = statement(
  'inbox.find_pending',
  `SELECT id, acquirer, kind, reference, attempts, hints FROM acquirer_notifications WHERE id = $1 AND status = 'pending'`,
);
const CLAIM_DUE = statement(
  'inbox.claim_due',
  `UPDATE acquirer_notifications SET next_attempt_at = $2 WHERE id IN (
     SELECT id FROM acquirer_notifications WHERE status = 'pending' AND next_attempt_at <= $1
     ORDER BY next_attempt_at LIMIT $3 FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);
/** Not when it was told again since it was read: what was applied may be older than that. */
const CLOSE = statement(
  'inbox.close',
  `UPDATE acquirer_notifications SET status = $2, applied_at = $3, attempts = attempts + 1, last_error = $4
   WHERE id = $1 AND status = 'pending' AND hints = $5`,
);
const RETRY = statement(
  'inbox.retry',
  `UPDATE acquirer_notifications SET attempts = attempts + 1, next_attempt_at = $2, last_error = $3
   WHERE id = $1 AND status = 'pending'`,
);

const APPLIED = statement(
  'inbox.applied',
  `SELECT reference FROM acquirer_notifications
   WHERE acquirer = $1 AND kind = $2 AND reference = ANY ($3::text[]) AND applied_at IS NOT NULL`,
);
const REMOVE_IGNORED = statement(
  'inbox.remove_ignored',
  `DELETE FROM acquirer_notifications WHERE id IN (
     SELECT id FROM acquirer_notifications WHERE status = 'ignored' AND next_attempt_at <= $1
     ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING 1`,
);

@Injectable()
export class InboxRepository {
  constructor(private readonly reader: Reader) {}

  async insert(
    tx: Tx,
    row: { id: string; acquirer: string; hint: NotificationHint; receivedAt: Date; nextAttemptAt: Date },
  ): Promise<{ id: string; pending: boolean }> {
    const [found] = await tx.query<{ id: string; status: string }>(INSERT, [
      row.id,
      row.acquirer,
      row.hint.kind,
      row.hint.reference,
      row.receivedAt,
      row.nextAttemptAt,
      row.hint.kind === 'dispute',
    ]);
    return { id: found?.id ?? row.id, pending: found?.status === 'pending' };
  }

  async findPending(id: string): Promise<Notification | null> {
    const [row] = await this.reader.query<Notification>(FIND_PENDING, [id]);
    return row ?? null;
  }

  async claimDue(tx: Tx, now: Date, leasedUntil: Date, limit: number): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(CLAIM_DUE, [now, leasedUntil, limit]);
    return rows.map((row) => row.id);
  }

  close(tx: Tx, { id, hints }: Notification, status: 'applied' | 'ignored', at: Date, error: string | null): void {
    tx.defer(CLOSE, [id, status, at, error, hints]);
  }

  retry(tx: Tx, id: string, nextAttemptAt: Date, error: string): void {
    tx.defer(RETRY, [id, nextAttemptAt, error]);
  }

  async applied(acquirer: string, kind: NotificationHint['kind'], references: readonly string[]): Promise<Set<string>> {
    const rows = await this.reader.query<{ reference: string }>(APPLIED, [acquirer, kind, references]);
    return new Set(rows.map((row) => row.reference));
  }

  /** @returns how many there were, at most `limit` */
  async removeIgnored(tx: Tx, triedBefore: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE_IGNORED, [triedBefore, limit])).length;
  }
}
