import { Injectable } from '@nestjs/common';
import { read, Reader, type Tx, valuesOfFields, write } from '../core/database/index.js';
import type { Scope } from '../core/mode.js';

/** The wallet of one account, mode and currency. */
export interface Wallet extends Scope {
  readonly currency: string;
}

export interface Unlinked extends Wallet {
  /** The number of the last entry. */
  readonly entries: number;
  /** Number and hash of the last linked entry; null when none is linked. */
  readonly linked: number | null;
  readonly hash: Buffer | null;
}

/** The content of an entry, with all its lines. */
export interface EntryContent {
  readonly number: number;
  readonly entryId: string;
  readonly content: string;
}

export interface WalletEnds extends Wallet {
  readonly entries: number;
  readonly linked: number;
  /** An entry whose number is above the wallet's count. */
  readonly strayId: string | null;
  readonly strayNumber: string | null;
}

export interface OddLine extends Wallet {
  readonly number: number;
  readonly entryId: string | null;
  /** The cause of the entry; for `balance`, the bucket. */
  readonly cause: string | null;
  readonly what: 'changed' | 'balance';
}

/** An entry with its link; either may be missing. */
export interface Link {
  readonly number: number;
  readonly entryId: string | null;
  readonly cause: string | null;
  readonly content: string | null;
  readonly linkedId: string | null;
  readonly hash: Buffer | null;
}

/** Writes arrays as JSON and times in microseconds, so that an entry has the same text under any session settings. */
const CONTENT = `json_build_array(e.number, e.id, e.account_id, e.mode, e.currency, e.cause, e.type, e.transaction_id,
  (extract(epoch FROM e.created_at) * 1000000)::bigint, (
    SELECT json_agg(json_build_array(l.line, l.account_id, l.mode, l.currency, l.bucket, l.amount, l.number, l.balance_after,
      (extract(epoch FROM l.created_at) * 1000000)::bigint) ORDER BY l.line)
    FROM journal_lines l WHERE l.entry_id = e.id))::text`;
const OF_WALLET = 'account_id = $1 AND mode = $2 AND currency = $3';

const LOCK = read(
  'ledger_chain.lock',
  `SELECT pg_try_advisory_xact_lock(hashtextextended('ledger_chain', 0)) AS "isFree"`,
);

/**
 * Reads up to the wallet's count of entries, which are committed: the count is written under the lock that numbers
 * them.
 */
const UNLINKED = read(
  'ledger_chain.unlinked',
  `SELECT b.account_id AS "accountId", b.mode, b.currency, b.entries, h.number AS linked, h.hash
   FROM balances b LEFT JOIN LATERAL (
     SELECT h.number, h.hash FROM journal_hashes h
     WHERE h.account_id = b.account_id AND h.mode = b.mode AND h.currency = b.currency ORDER BY h.number DESC LIMIT 1) h ON true
   WHERE b.bucket = 'available' AND b.entries > coalesce(h.number, 0) ORDER BY b.updated_at LIMIT $1`,
);

const CONTENTS = read(
  'ledger_chain.contents',
  `SELECT e.number, e.id AS "entryId", ${CONTENT} AS content FROM journal_entries e
   WHERE ${OF_WALLET} AND number > $4 AND number <= $5 ORDER BY number LIMIT $6`,
);

const LINK = write(
  'ledger_chain.link',
  `INSERT INTO journal_hashes (account_id, mode, currency, number, entry_id, hash)
   SELECT $1, $2, $3, * FROM unnest($4::bigint[], $5::uuid[], $6::bytea[])`,
);

/** Reads in one statement, so that an entry that is posted meanwhile is not taken for a stray. */
const WALLETS = read(
  'ledger_chain.wallets',
  `WITH wallets AS (
     SELECT account_id, mode, currency, entries FROM balances WHERE bucket = 'available'
     UNION ALL SELECT account_id, mode, currency, 0 FROM journal_entries GROUP BY account_id, mode, currency
     UNION ALL SELECT account_id, mode, currency, 0 FROM journal_hashes GROUP BY account_id, mode, currency
   )
   SELECT w.account_id AS "accountId", w.mode, w.currency, w.entries, w.linked, e.id AS "strayId", e.number::text AS "strayNumber"
   FROM (
     SELECT account_id, mode, currency, max(entries) AS entries, coalesce((
         SELECT max(number) FROM journal_hashes h WHERE (h.account_id, h.mode, h.currency) = (w.account_id, w.mode, w.currency)
       ), 0) AS linked
     FROM wallets w WHERE $1::uuid IS NULL OR account_id = $1 GROUP BY account_id, mode, currency) w
   LEFT JOIN LATERAL (
     SELECT e.id, e.number FROM journal_entries e
     WHERE (e.account_id, e.mode, e.currency) = (w.account_id, w.mode, w.currency)
       AND (e.number > greatest(w.entries, w.linked) OR e.number < 1) ORDER BY e.number LIMIT 1) e ON true
   ORDER BY w.account_id, w.mode, w.currency`,
  true,
);

const LINKS = read(
  'ledger_chain.links',
  `SELECT number, e."entryId", e.cause, e.content, h."linkedId", h.hash FROM (
     SELECT e.number, e.id AS "entryId", e.cause, ${CONTENT} AS content FROM journal_entries e
     WHERE ${OF_WALLET} AND number > $4 AND number <= $5) e
   FULL JOIN (
     SELECT number, entry_id AS "linkedId", hash FROM journal_hashes
     WHERE ${OF_WALLET} AND number > $4 AND number <= $5) h USING (number)`,
);

/**
 * Finds, for each wallet, the first line whose entry or balance is wrong. A line's balance must be the sum of the lines
 * up to it. The same statement finds balances that differ from the sum of all their lines.
 */
const ODD = read(
  'ledger_chain.odd',
  `WITH lines AS (
     SELECT l.account_id, l.mode, l.currency, l.bucket, l.amount, l.number, l.entry_id, e.cause,
       (l.account_id, l.mode, l.currency, l.number, l.created_at)
         IS DISTINCT FROM (e.account_id, e.mode, e.currency, e.number, e.created_at) OR l.balance_after <> sum(l.amount) OVER bucket
         -- Clocks of two machines are never so far apart.
         OR l.created_at < lag(l.created_at) OVER bucket - interval '1 hour'
         OR l.created_at < lag(l.created_at) OVER wallet - interval '1 hour' AS odd
     FROM journal_lines l LEFT JOIN journal_entries e ON e.id = l.entry_id
     WHERE $1::uuid IS NULL OR l.account_id = $1
     WINDOW bucket AS (PARTITION BY l.account_id, l.mode, l.currency, l.bucket ORDER BY l.number, l.line),
       wallet AS (PARTITION BY l.account_id, l.mode, l.currency ORDER BY l.number, l.line)
   ), found AS (
     SELECT account_id, mode, currency, number, entry_id, cause, 'changed' AS what FROM lines WHERE odd
     UNION ALL
     SELECT b.account_id, b.mode, b.currency, b.entries, NULL, b.bucket, 'balance' FROM balances b LEFT JOIN (
       SELECT account_id, mode, currency, bucket, sum(amount) AS amount FROM lines GROUP BY 1, 2, 3, 4) s
       USING (account_id, mode, currency, bucket)
     WHERE ($1::uuid IS NULL OR b.account_id = $1) AND b.amount <> coalesce(s.amount, 0)
   )
   SELECT DISTINCT ON (account_id, mode, currency) account_id AS "accountId", mode, currency, number,
     entry_id AS "entryId", cause, what FROM found ORDER BY account_id, mode, currency, what DESC, number`,
  true,
);

/** Finds the creation time of the oldest entry that is not linked; the wallet's count shows that it is committed. */
const WAITING_SINCE = read(
  'ledger_chain.waiting_since',
  `SELECT min(e.created_at) AS since FROM balances b CROSS JOIN LATERAL (
     SELECT coalesce(max(h.number), 0) AS number FROM journal_hashes h
     WHERE (h.account_id, h.mode, h.currency) = (b.account_id, b.mode, b.currency)) h
   JOIN journal_entries e ON (e.account_id, e.mode, e.currency, e.number) = (b.account_id, b.mode, b.currency, h.number + 1)
   WHERE b.bucket = 'available' AND b.entries > h.number AND ($1::uuid IS NULL OR b.account_id = $1)`,
);

const keyOf = ({ accountId, mode, currency }: Wallet): unknown[] => [accountId, mode, currency];

@Injectable()
export class LedgerChainRepository {
  constructor(private readonly reader: Reader) {}

  /** @returns true if nobody else links until the end of `tx` */
  async lock(tx: Tx): Promise<boolean> {
    const [row] = await tx.query<{ isFree: boolean }>(LOCK, []);
    return row?.isFree === true;
  }

  async unlinked(tx: Tx, limit: number): Promise<Unlinked[]> {
    return tx.query<Unlinked>(UNLINKED, [limit]);
  }

  /** Entries that are not linked yet, in the order of their numbers. */
  async contents(tx: Tx, wallet: Unlinked, limit: number): Promise<EntryContent[]> {
    return tx.query<EntryContent>(CONTENTS, [...keyOf(wallet), wallet.linked ?? 0, wallet.entries, limit]);
  }

  link(tx: Tx, wallet: Wallet, links: readonly { number: number; entryId: string; hash: Buffer }[]): void {
    tx.defer(LINK, [...keyOf(wallet), ...valuesOfFields(links, 'number', 'entryId', 'hash')]);
  }

  async wallets(tx: Tx, accountId: string | null): Promise<WalletEnds[]> {
    return tx.query<WalletEnds>(WALLETS, [accountId]);
  }

  /** Finds lines and balances that do not add up, whatever their hashes are: the first of each wallet. */
  async odd(tx: Tx, accountId: string | null): Promise<OddLine[]> {
    return tx.query<OddLine & Record<string, unknown>>(ODD, [accountId]);
  }

  /** @returns null when all entries are linked */
  async waitingSince(accountId: string | null): Promise<Date | null> {
    const [row] = await this.reader.query<{ since: Date | null }>(WAITING_SINCE, [accountId]);
    return row?.since ?? null;
  }

  /** Returns the existing entries and links with numbers above `after` up to `to`, in no order. */
  async links(wallet: Wallet, after: number, to: number): Promise<Link[]> {
    return this.reader.query<Link>(LINKS, [...keyOf(wallet), after, to]);
  }
}
