import { Injectable } from '@nestjs/common';
import { Reader, read, write, type Tx } from '../core/database/index.js';
import type { Mode, Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { Bucket } from './ledger.service.js';

export interface EntryRow {
  id: string;
  accountId: string;
  mode: Mode;
  currency: string;
  cause: string;
  transactionId: string | null;
  lines: readonly { bucket: Bucket; amount: Amount }[];
}

/**
 * Entries, their lines and the balances in one statement. The upsert inserts missing balance rows and locks the others
 * in sorted order, so two postings can never wait for each other; it comes last, so the hot row is held for the
 * shortest time before the commit.
 */
const POST = write(
  'ledger.post',
  `WITH entries AS (
     INSERT INTO journal_entries (id, account_id, mode, currency, cause, transaction_id, created_at)
     SELECT *, $13::timestamptz FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::uuid[])
   ), lines AS (
     INSERT INTO journal_lines (entry_id, line, account_id, mode, currency, bucket, amount)
     SELECT * FROM unnest($7::uuid[], $14::smallint[], $8::uuid[], $9::text[], $10::text[], $11::text[], $12::bigint[])
   )
   INSERT INTO balances (account_id, mode, currency, bucket, amount, updated_at)
   SELECT account_id, mode, currency, bucket, sum(amount)::bigint, $13
   FROM unnest($8::uuid[], $9::text[], $10::text[], $11::text[], $12::bigint[]) AS l (account_id, mode, currency, bucket, amount)
   GROUP BY account_id, mode, currency, bucket ORDER BY account_id, mode, currency, bucket
   ON CONFLICT (account_id, mode, currency, bucket)
   DO UPDATE SET amount = balances.amount + excluded.amount, updated_at = excluded.updated_at`,
);

const BALANCES = read(
  'ledger.balances',
  `SELECT currency, bucket, amount FROM balances
   WHERE account_id = $1 AND mode = $2 AND bucket IN ('available', 'pending', 'retained') ORDER BY currency`,
);

/** The first of an account's buckets in the order of the upsert above: locking it alone cannot cross with a posting. */
const LOCK_AVAILABLE = write(
  'ledger.lock_available',
  `SELECT amount FROM balances
   WHERE account_id = $1 AND mode = $2 AND currency = $3 AND bucket = 'available' FOR UPDATE`,
);

const INCOHERENT = read(
  'ledger.incoherent',
  `SELECT coalesce(b.account_id, l.account_id) AS account_id, coalesce(b.bucket, l.bucket) AS bucket
   FROM balances b
   FULL JOIN (SELECT account_id, mode, currency, bucket, sum(amount) AS amount FROM journal_lines GROUP BY 1, 2, 3, 4) l
     USING (account_id, mode, currency, bucket)
   WHERE b.amount IS DISTINCT FROM l.amount LIMIT 100`,
);

@Injectable()
export class WalletsRepository {
  constructor(private readonly reader: Reader) {}

  post(tx: Tx, entries: readonly EntryRow[], now: Date): void {
    const lines = entries.flatMap((entry) => entry.lines.map((line, index) => ({ entry, line, number: index + 1 })));
    tx.defer(POST, [
      entries.map((entry) => entry.id),
      entries.map((entry) => entry.accountId),
      entries.map((entry) => entry.mode),
      entries.map((entry) => entry.currency),
      entries.map((entry) => entry.cause),
      entries.map((entry) => entry.transactionId),
      lines.map(({ entry }) => entry.id),
      lines.map(({ entry }) => entry.accountId),
      lines.map(({ entry }) => entry.mode),
      lines.map(({ entry }) => entry.currency),
      lines.map(({ line }) => line.bucket),
      lines.map(({ line }) => line.amount),
      now,
      lines.map(({ number }) => number),
    ]);
  }

  async balances(scope: Scope): Promise<{ currency: string; bucket: Bucket; amount: Amount }[]> {
    return this.reader.query(BALANCES, [scope.accountId, scope.mode]);
  }

  /** What is spendable, locked until the end of `tx`. */
  async lockAvailable(tx: Tx, scope: Scope, currency: string): Promise<Amount> {
    const [row] = await tx.query<{ amount: Amount }>(LOCK_AVAILABLE, [scope.accountId, scope.mode, currency]);
    return row?.amount ?? 0;
  }

  /** Balances that are not the sum of their lines: none, ever. */
  async incoherent(): Promise<{ account_id: string; bucket: string }[]> {
    return this.reader.query(INCOHERENT, []);
  }
}
