import { Injectable } from '@nestjs/common';
import {
  read,
  Reader,
  type RowWrite,
  type Tx,
  valuesOfFields,
  write,
  writeRow,
  lockDue,
} from '../core/database/index.js';
import type { Mode, Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { OperatorQueues } from '../core/operator-queues.js';
import type { EntryType } from './entry-types.js';
import type { Bucket } from './balance.entity.js';

export interface EntryRow {
  id: string;
  accountId: string;
  mode: Mode;
  currency: string;
  cause: string;
  type: EntryType;
  transactionId: string | null;
  lines: readonly { bucket: Bucket; amount: Amount }[];
}

/**
 * Posts balances, entries and their lines in one statement. The upsert inserts missing balance rows and locks the
 * others in sorted order, so two postings can never deadlock.
 *
 * Every posting takes the wallet's `available`, even for amount 0, because that row counts the entries and keeps their
 * time. Numbers, times and balances after each line then follow the order of the commits. For each entry and line, the
 * later ones of the same statement are subtracted from the upsert's result.
 */
const POST_ENTRIES = write(
  'ledger.post',
  `WITH moved AS (
     INSERT INTO balances (account_id, mode, currency, bucket, amount, entries, updated_at, negative_since, negative_notice_at)
     SELECT m.*, $1::timestamptz, negative.at, negative.at FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
       AS m (account_id, mode, currency, bucket, amount, entries)
       CROSS JOIN LATERAL (SELECT CASE WHEN m.bucket = 'available' AND m.amount < 0 THEN $1::timestamptz END AS at) negative
     ORDER BY account_id, mode, currency, bucket
     ON CONFLICT (account_id, mode, currency, bucket) DO UPDATE SET amount = balances.amount + excluded.amount,
       entries = balances.entries + excluded.entries, updated_at = greatest(balances.updated_at, excluded.updated_at),
       negative_since = CASE WHEN balances.bucket = 'available' AND balances.amount + excluded.amount < 0
         THEN coalesce(balances.negative_since, excluded.updated_at) END,
       negative_notice_at = CASE WHEN balances.bucket = 'available' AND balances.amount + excluded.amount < 0
         THEN CASE WHEN balances.negative_since IS NULL THEN excluded.updated_at ELSE balances.negative_notice_at END END
     RETURNING *
   ), entries AS (
     INSERT INTO journal_entries (id, account_id, mode, currency, cause, type, transaction_id, number, created_at)
     SELECT e.id, m.account_id, m.mode, m.currency, e.cause, e.type, e.transaction_id, m.entries - e.followers, m.updated_at
     FROM unnest($8::uuid[], $9::uuid[], $10::text[], $11::text[], $12::text[], $13::text[], $14::uuid[], $15::bigint[])
       AS e (id, account_id, mode, currency, cause, type, transaction_id, followers)
     JOIN moved m USING (account_id, mode, currency) WHERE m.bucket = 'available'
     RETURNING *
   )
   INSERT INTO journal_lines (entry_id, line, account_id, mode, currency, bucket, amount, number, created_at, balance_after)
   SELECT e.id, l.line, e.account_id, e.mode, e.currency, l.bucket, l.amount, e.number, e.created_at, m.amount - l.followed_by
   FROM unnest($16::uuid[], $17::smallint[], $18::text[], $19::bigint[], $20::bigint[])
     AS l (entry_id, line, bucket, amount, followed_by)
   JOIN entries e ON e.id = l.entry_id
   JOIN moved m ON (m.account_id, m.mode, m.currency, m.bucket) = (e.account_id, e.mode, e.currency, l.bucket)`,
);

/** Entries that one caller posts. */
interface Postings {
  readonly entries: readonly EntryRow[];
  readonly now: Date;
}

/** Joins the entries of several callers into one posting, so that each balance is moved once. */
const POST: RowWrite<Postings> = {
  ...POST_ENTRIES,
  valuesOf: ({ entries, now }) => postingValues(entries, now),
  all: {
    ...POST_ENTRIES,
    valuesOf: (all) =>
      postingValues(
        all.flatMap(({ entries }) => entries),
        new Date(Math.max(...all.map(({ now }) => now.getTime()))),
      ),
  },
  isLast: true,
};

const BALANCES = read(
  'ledger.balances',
  `SELECT currency, bucket, amount FROM balances
   WHERE account_id = $1 AND mode = $2 AND bucket IN ('available', 'pending', 'retained') ORDER BY currency`,
);

/** Locks the first of a wallet's buckets in the order of the upsert above, so it cannot deadlock with a posting. */
const LOCK_AVAILABLE = write(
  'ledger.lock_available',
  `SELECT amount FROM balances
   WHERE account_id = $1 AND mode = $2 AND currency = $3 AND bucket = 'available' FOR UPDATE`,
);

const NEGATIVE = `account_id AS "accountId", mode, currency, amount AS available, negative_since AS "negativeSince",
    negative_notice_at AS "nextNoticeAt"`;
/** Truncates the time to milliseconds, the precision of cursors. */
const NEGATIVE_SINCE = `date_trunc('milliseconds', negative_since)`;
const LIST_NEGATIVE = read(
  'wallets.list_negative',
  `SELECT ${NEGATIVE} FROM balances WHERE negative_since IS NOT NULL AND ($2::uuid IS NULL OR account_id = $2)
     AND (${NEGATIVE_SINCE}, account_id, mode, currency) > ($3::timestamptz, $4::uuid, $5::text, $6::text)
   ORDER BY ${NEGATIVE_SINCE}, account_id, mode, currency LIMIT $1`,
);
const COUNT_NEGATIVE = read(
  'wallets.count_negative',
  'SELECT count(*)::int AS waiting, min(negative_since) AS since FROM balances WHERE negative_since IS NOT NULL',
);
const LOCK_NEGATIVE = write(
  'wallets.lock_negative',
  lockDue(NEGATIVE, 'balances', { dueAt: 'negative_notice_at', where: 'negative_since IS NOT NULL' }),
);
const SET_NEGATIVE_NOTICE = write(
  'wallets.set_negative_notice',
  `UPDATE balances SET negative_notice_at = $4
   WHERE account_id = $1 AND mode = $2 AND currency = $3 AND bucket = 'available'`,
);

/** A wallet whose available balance is below zero. */
export interface NegativeBalance extends Scope {
  readonly currency: string;
  readonly available: Amount;
  readonly negativeSince: Date;
  /** When the merchant's next notice is due; null: no more notices. */
  readonly nextNoticeAt: Date | null;
}

/** The size of a page, and the wallet before its first one. */
export interface NegativeFilter {
  readonly limit: number;
  /** Null: all accounts. */
  readonly accountId: string | null;
  /** Null: the first page. */
  readonly after: Pick<NegativeBalance, 'negativeSince' | 'accountId' | 'mode' | 'currency'> | null;
}

interface Moved extends Scope {
  readonly currency: string;
  readonly bucket: Bucket;
  amount: Amount;
  entries: number;
}

@Injectable()
export class WalletsRepository {
  constructor(
    private readonly reader: Reader,
    queues: OperatorQueues,
  ) {
    queues.register('negative_balances', COUNT_NEGATIVE);
  }

  post(tx: Tx, entries: readonly EntryRow[], now: Date): void {
    writeRow(tx, POST, { entries, now });
  }

  async balances(scope: Scope): Promise<{ currency: string; bucket: Bucket; amount: Amount }[]> {
    return this.reader.query(BALANCES, [scope.accountId, scope.mode]);
  }

  /** Returns the available amount, locked until the end of `tx`. */
  async lockAvailable(tx: Tx, scope: Scope, currency: string): Promise<Amount> {
    const [row] = await tx.query<{ amount: Amount }>(LOCK_AVAILABLE, [scope.accountId, scope.mode, currency]);
    return row?.amount ?? 0;
  }

  /** Returns the longest negative balances first. */
  async negative({ limit, accountId, after }: NegativeFilter): Promise<NegativeBalance[]> {
    const { negativeSince, mode, currency } = after ?? { negativeSince: '-infinity', mode: '', currency: '' };
    const wallet = after?.accountId ?? '00000000-0000-0000-0000-000000000000';
    return this.reader.query(LIST_NEGATIVE, [limit, accountId, negativeSince, wallet, mode, currency]);
  }

  async lockNegative(tx: Tx, now: Date, limit: number): Promise<NegativeBalance[]> {
    return tx.query(LOCK_NEGATIVE, [now, limit]);
  }

  setNegativeNotice(tx: Tx, { accountId, mode, currency }: NegativeBalance, at: Date | null): void {
    tx.defer(SET_NEGATIVE_NOTICE, [accountId, mode, currency, at]);
  }
}

/** Parameters of `POST_ENTRIES`. */
function postingValues(entries: readonly EntryRow[], now: Date): unknown[] {
  const moved = new Map<string, Moved>();
  const move = ({ accountId, mode, currency }: EntryRow, bucket: Bucket): Moved => {
    const key = `${accountId} ${mode} ${currency} ${bucket}`;
    const known = moved.get(key) ?? { accountId, mode, currency, bucket, amount: 0, entries: 0 };
    moved.set(key, known);
    return known;
  };
  // Starts with the last entry, so that the later ones of each are known.
  const rows = entries.toReversed().map((entry) => {
    const followers = move(entry, 'available').entries++;
    const lines = entry.lines.map(({ bucket, amount }, index) => {
      const balance = move(entry, bucket);
      const followedBy = balance.amount;
      balance.amount += amount;
      return { entryId: entry.id, line: index + 1, bucket, amount, followedBy };
    });
    return { ...entry, followers, lines };
  });
  const balances = [...moved.values()];
  const lines = rows.flatMap((row) => row.lines);
  return [
    now,
    ...valuesOfFields(balances, 'accountId', 'mode', 'currency', 'bucket', 'amount', 'entries'),
    ...valuesOfFields(rows, 'id', 'accountId', 'mode', 'currency', 'cause', 'type', 'transactionId', 'followers'),
    ...valuesOfFields(lines, 'entryId', 'line', 'bucket', 'amount', 'followedBy'),
  ];
}
