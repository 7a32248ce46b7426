import { expect } from '@jest/globals';
import pg from 'pg';

/** Each query finds what must not be: a row is a broken promise, and its text says which. */
const CHECKS: readonly { name: string; sql: string }[] = [
  {
    name: 'the lines of every entry sum to zero',
    sql: `SELECT e.id FROM journal_entries e LEFT JOIN journal_lines l ON l.entry_id = e.id
          GROUP BY e.id HAVING coalesce(sum(l.amount), 1) <> 0`,
  },
  {
    name: 'all lines sum to zero per account, mode and currency',
    sql: `SELECT account_id, mode, currency, sum(amount) FROM journal_lines GROUP BY 1, 2, 3 HAVING sum(amount) <> 0`,
  },
  {
    name: 'each balance is the sum of its lines',
    sql: `SELECT * FROM balances b FULL JOIN (
            SELECT account_id, mode, currency, bucket, sum(amount) AS lines FROM journal_lines GROUP BY 1, 2, 3, 4) l
          USING (account_id, mode, currency, bucket) WHERE b.amount IS DISTINCT FROM l.lines`,
  },
  {
    name: 'each paid transaction has exactly one credited settlement and one credit entry of its amount',
    sql: `SELECT t.id FROM transactions t
          WHERE (t.paid_at IS NOT NULL) <> EXISTS (SELECT 1 FROM settlements s WHERE s.transaction_id = t.id AND s.outcome = 'credited' AND s.amount = t.amount)
             OR (t.paid_at IS NOT NULL) <> EXISTS (
               SELECT 1 FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
               WHERE e.cause = 'charge.paid:' || t.id AND l.bucket = 'clearing' AND l.amount = -t.amount AND l.account_id = t.account_id AND l.mode = t.mode)`,
  },
  {
    name: 'net amount, fees and the credited lines agree',
    sql: `SELECT t.id FROM transactions t WHERE t.paid_at IS NOT NULL AND t.net_amount <> coalesce((
            SELECT sum(l.amount) FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
            WHERE e.cause = 'charge.paid:' || t.id AND l.bucket IN ('available', 'pending')), 0)`,
  },
  {
    name: 'each Pix that is returned has exactly one return of its whole amount',
    sql: `SELECT s.id FROM settlements s WHERE s.outcome = 'returned' AND (
            SELECT count(*) FROM pix_returns r WHERE r.end_to_end_id = s.end_to_end_id AND r.acquirer = s.acquirer AND r.amount = s.amount) <> 1`,
  },
  {
    name: 'every status has its event',
    sql: `SELECT t.id, t.status FROM transactions t WHERE t.status <> 'PENDING' AND NOT EXISTS (
            SELECT 1 FROM events v WHERE v.subject_id = t.id AND v.data -> 'transaction' ->> 'status' = t.status)`,
  },
  {
    name: 'no event was written twice for one status of one transaction',
    sql: `SELECT subject_id, type, count(*) FROM events WHERE type LIKE 'transaction.%' GROUP BY 1, 2 HAVING count(*) > 1`,
  },
  {
    name: 'the events of each subject are numbered 1, 2, … without a hole',
    sql: `SELECT subject_id FROM events GROUP BY subject_id HAVING min(sequence) <> 1 OR max(sequence) <> count(*)`,
  },
  {
    name: 'each event of a transaction goes on from the status that the one before it tells of',
    sql: `SELECT * FROM (
            SELECT subject_id, sequence, data ->> 'previousStatus' AS previous,
              lag(data -> 'transaction' ->> 'status') OVER (PARTITION BY subject_id ORDER BY sequence) AS before
            FROM events WHERE type LIKE 'transaction.%') e WHERE sequence > 1 AND previous IS DISTINCT FROM before`,
  },
  {
    name: 'each idempotency key with an answer names a transaction',
    sql: `SELECT k.key FROM idempotency_keys k WHERE NOT EXISTS (SELECT 1 FROM transactions t WHERE t.id = k.resource_id)`,
  },
  {
    name: 'released money was scheduled, and scheduled money that was released is in the journal',
    sql: `SELECT r.id FROM releases r WHERE (r.released_at IS NOT NULL) <> EXISTS (
            SELECT 1 FROM journal_entries e WHERE e.cause = 'release:' || r.transaction_id)`,
  },
];

/** Runs after every test that touches money. @param url of the database */
export async function expectLedgerCoherent(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const broken: Record<string, unknown[]> = {};
    for (const { name, sql } of CHECKS) {
      const { rows } = await client.query<Record<string, unknown>>(sql);
      if (rows.length > 0) broken[name] = rows.slice(0, 5);
    }
    expect(broken).toEqual({});
  } finally {
    await client.end();
  }
}
