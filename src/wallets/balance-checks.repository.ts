import { Injectable } from '@nestjs/common';
import { Reader, read, type Tx, write } from '../core/database/index.js';

/** The result of one worker's check, for all processes. */
export interface BalanceCheck {
  readonly checkedAt: Date;
  /** Balances that differed from the sum of their lines. */
  readonly incoherent: number;
}

/**
 * Locks the check until the end of the transaction, so that one worker checks at a time. A check in the future counts
 * as due, because a clock that was ahead wrote it.
 */
const CLAIM = write(
  'balance_checks.claim',
  'SELECT FROM balance_checks WHERE checked_at <= $1 OR checked_at > $2 FOR UPDATE SKIP LOCKED',
);
const FINISH = write('balance_checks.finish', 'UPDATE balance_checks SET checked_at = $1, incoherent = $2');
const LAST = read(
  'balance_checks.last',
  `SELECT checked_at AS "checkedAt", incoherent FROM balance_checks WHERE checked_at > '-infinity'`,
);

/**
 * Selects the entries after each wallet's checkpoint, which is the row of its bucket `available`. @param only which
 * wallets
 */
const since = (only: string): string => `SELECT b.account_id, b.mode, b.currency, e.id, e.number
  FROM balances b LEFT JOIN LATERAL (
    SELECT number FROM balance_checkpoints
    WHERE (account_id, mode, currency, bucket) = (b.account_id, b.mode, b.currency, b.bucket) OFFSET 0) c ON true
  CROSS JOIN LATERAL (
    SELECT id, number FROM journal_entries
    WHERE (account_id, mode, currency) = (b.account_id, b.mode, b.currency) AND number > coalesce(c.number, 0)
    ORDER BY number LIMIT $1) e
  WHERE b.bucket = 'available' ${only} LIMIT $1`;

/**
 * Takes the next entries of each wallet up to the first hole: a checkpoint never passes an entry that it does not
 * contain. This statement and the next have no name, so PostgreSQL plans them anew for the present sizes of the tables.
 */
const ADVANCE = write(
  '',
  `WITH since AS MATERIALIZED (${since('AND b.entries > coalesce(c.number, 0)')}),
   moved AS (
     SELECT account_id, mode, currency, 'available' AS bucket, 0 AS amount, number FROM since
     UNION ALL
     SELECT s.account_id, s.mode, s.currency, l.bucket, l.amount, s.number
     FROM since s CROSS JOIN LATERAL (SELECT * FROM journal_lines WHERE entry_id = s.id OFFSET 0) l
   ),
   advanced AS (
     INSERT INTO balance_checkpoints AS c (account_id, mode, currency, bucket, amount, number)
     SELECT account_id, mode, currency, bucket, sum(amount), max(number) FROM moved GROUP BY 1, 2, 3, 4
     ON CONFLICT (account_id, mode, currency, bucket) DO UPDATE SET amount = c.amount + excluded.amount, number = excluded.number
   )
   SELECT count(*)::int AS count FROM since`,
);

/**
 * Reads balances and lines in one statement, so that both contain concurrent postings, or neither does. The entries
 * include any that the wallet does not count.
 */
const INCOHERENT = read(
  '',
  `WITH since AS MATERIALIZED (${since('')}),
   lines AS (
     SELECT account_id, mode, currency, bucket, amount FROM balance_checkpoints
     UNION ALL
     SELECT s.account_id, s.mode, s.currency, l.bucket, l.amount
     FROM since s CROSS JOIN LATERAL (SELECT * FROM journal_lines WHERE entry_id = s.id OFFSET 0) l
   )
   SELECT count(*)::int AS count
   FROM balances b
   FULL JOIN (SELECT account_id, mode, currency, bucket, sum(amount) AS amount FROM lines GROUP BY 1, 2, 3, 4) l
     USING (account_id, mode, currency, bucket)
   WHERE coalesce(b.amount, 0) <> coalesce(l.amount, 0)`,
);

@Injectable()
export class BalanceChecksRepository {
  constructor(private readonly reader: Reader) {}

  /** @returns whether a check is due, which nobody else makes until the end of `tx` */
  async claim(tx: Tx, lastBefore: Date, now: Date): Promise<boolean> {
    return (await tx.query(CLAIM, [lastBefore, now])).length > 0;
  }

  /** Adds up to `limit` entries to the checkpoints. @returns how many */
  async advance(tx: Tx, limit: number): Promise<number> {
    const [row] = await tx.query<{ count: number }>(ADVANCE, [limit]);
    return row?.count ?? 0;
  }

  /**
   * Counts balances that differ from the sum of their lines.
   * @param most limit of entries since the checkpoints, above any real number
   */
  async incoherent(tx: Tx, most: number): Promise<number> {
    const [row] = await tx.query<{ count: number }>(INCOHERENT, [most]);
    return row?.count ?? 0;
  }

  finish(tx: Tx, { checkedAt, incoherent }: BalanceCheck): void {
    tx.defer(FINISH, [checkedAt, incoherent]);
  }

  /** @returns null before the first check */
  async last(): Promise<BalanceCheck | null> {
    return this.reader.first<BalanceCheck & Record<string, unknown>>(LAST, []);
  }
}
