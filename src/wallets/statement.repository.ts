import { Injectable } from '@nestjs/common';
import { Reader, type ReadStatement, read } from '../core/database/index.js';
import type { CursorFilter } from '../core/http/index.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { COUNT_LIMIT, type CurrencyTotal, totalsOf } from '../core/totals.js';
import type { StatementEntryType } from './entry-types.js';
import type { Bucket } from './balance.entity.js';

/** Buckets that a merchant sees: the predicate of the index `journal_lines_statement_idx`. */
export const MERCHANT_BUCKETS = ['available', 'pending', 'retained'] as const;
export type MerchantBucket = (typeof MERCHANT_BUCKETS)[number];

/** A line of the ledger. */
export interface WalletEntry {
  readonly entryId: string;
  readonly line: number;
  readonly type: StatementEntryType;
  readonly cause: string;
  readonly transactionId: string | null;
  readonly currency: string;
  readonly bucket: MerchantBucket;
  readonly amount: Amount;
  /** The bucket's balance after the line. */
  readonly balance: Amount;
  readonly createdAt: Date;
}

/** The place of a line among all lines of an account and mode. Within one bucket it is the order of the commits. */
export interface Position {
  readonly createdAt: Date;
  readonly number: number;
  readonly currency: string;
  readonly line: number;
}

export interface StatementFilter extends CursorFilter {
  readonly before: Position | null;
  readonly currency: string | null;
  readonly bucket: MerchantBucket | null;
  readonly type: StatementEntryType | null;
  /** A payment with its releases, refunds and disputes; or a refund; or a case. */
  readonly source: string | null;
}

const BUCKETS = `('${MERCHANT_BUCKETS.join(`', '`)}')`;
const OF_BUCKET = `(l.account_id, l.mode, l.currency, l.bucket) = (b.account_id, b.mode, b.currency, b.bucket)
       AND l.bucket IN ${BUCKETS}`;
const COLUMNS = `l.entry_id AS "entryId", l.line, e.type, e.cause, e.transaction_id AS "transactionId", l.currency,
       l.bucket, l.amount, l.balance_after AS balance, l.created_at AS "createdAt"`;
const NEWEST_FIRST = 'l.created_at DESC, l.number DESC, l.currency DESC, l.line DESC';
/** Starts with a redundant comparison, for the index. */
const IN_WINDOW = `l.created_at BETWEEN $5::timestamptz AND $6::timestamptz
       AND (l.created_at, l.number) <= ($7::timestamptz, $8::bigint)
       AND (l.created_at, l.number, l.currency, l.line) < ($7::timestamptz, $8::bigint, $9::text, $10::integer)
       AND ($11::text IS NULL OR e.type = $11)`;

/** Reads the newest lines of each bucket by the index, and takes the newest of them. */
const ENTRIES = read(
  'statement.entries',
  `SELECT x.* FROM balances b CROSS JOIN LATERAL (
     SELECT ${COLUMNS}, l.number FROM journal_lines l JOIN journal_entries e ON e.id = l.entry_id
     WHERE ${OF_BUCKET} AND ${IN_WINDOW} ORDER BY ${NEWEST_FIRST} LIMIT $12) x
   WHERE b.account_id = $1 AND b.mode = $2 AND ($3::text IS NULL OR b.currency = $3)
     AND b.bucket IN ${BUCKETS} AND ($4::text IS NULL OR b.bucket = $4)
   ORDER BY x."createdAt" DESC, x.number DESC, x.currency DESC, x.line DESC LIMIT $12`,
);

const LATER = `type <> 'sale' AND type <> 'release'`;
/** Finds a sale and its releases by their causes, later entries by indexes that leave those out. */
const ENTRIES_OF_SOURCE = read(
  'statement.entries_of_source',
  `SELECT ${COLUMNS} FROM (
     SELECT id FROM journal_entries 
       WHERE cause IN ('charge.paid:' || $13::text, 'release:' || $13::text, 'release.reserve:' || $13::text)
     UNION SELECT id FROM journal_entries WHERE ${LATER} AND transaction_id = $13::uuid
     UNION SELECT id FROM journal_entries WHERE ${LATER} AND split_part(cause, ':', 2) = $13::text
   ) f JOIN journal_entries e ON e.id = f.id JOIN journal_lines l ON l.entry_id = e.id
   WHERE l.account_id = $1 AND l.mode = $2 AND ($3::text IS NULL OR l.currency = $3)
     AND l.bucket IN ${BUCKETS} AND ($4::text IS NULL OR l.bucket = $4) AND ${IN_WINDOW}
   ORDER BY ${NEWEST_FIRST} LIMIT $12`,
);

const TOTALS = { all: totalsOf(ENTRIES), ofSource: totalsOf(ENTRIES_OF_SOURCE) };

const POSITION = read(
  'statement.position',
  `SELECT created_at AS "createdAt", number, currency, line FROM journal_lines
   WHERE entry_id = $3 AND line = $4 AND account_id = $1 AND mode = $2 AND bucket IN ${BUCKETS}`,
);

/** Reads the balance of each bucket after its last line until that time. */
const BALANCES_AT = read(
  'statement.balances_at',
  `SELECT b.currency, b.bucket, x.amount FROM balances b CROSS JOIN LATERAL (
     SELECT l.balance_after AS amount FROM journal_lines l WHERE ${OF_BUCKET} AND l.created_at <= $3
     ORDER BY l.created_at DESC, l.number DESC LIMIT 1) x
   WHERE b.account_id = $1 AND b.mode = $2 AND b.bucket IN ${BUCKETS} ORDER BY b.currency`,
);

const END: { [K in keyof Position]: unknown } = {
  createdAt: 'infinity',
  number: '9223372036854775807',
  currency: '',
  line: 0,
};

@Injectable()
export class StatementRepository {
  constructor(private readonly reader: Reader) {}

  /** Newest first. */
  async list(scope: Scope, filter: StatementFilter): Promise<WalletEntry[]> {
    return this.#query({ all: ENTRIES, ofSource: ENTRIES_OF_SOURCE }, scope, filter);
  }

  /** Counts what the list has, at most `COUNT_LIMIT`. */
  async totals(scope: Scope, filter: StatementFilter): Promise<CurrencyTotal[]> {
    return this.#query(TOTALS, scope, { ...filter, before: null, limit: COUNT_LIMIT });
  }

  async #query<R extends object>(
    statements: { readonly all: ReadStatement; readonly ofSource: ReadStatement },
    scope: Scope,
    filter: StatementFilter,
  ): Promise<R[]> {
    const { createdFrom, createdTo, before, currency, bucket, type, source, limit } = filter;
    const end = before ?? END;
    const values = [
      ...[scope.accountId, scope.mode, currency, bucket, createdFrom ?? '-infinity', createdTo ?? 'infinity'],
      ...[end.createdAt, end.number, end.currency, end.line, type, limit],
    ];
    return source === null
      ? this.reader.query(statements.all, values)
      : this.reader.query(statements.ofSource, [...values, source]);
  }

  /** @returns null if the line does not exist, or is not this merchant's own money */
  async positionOf(scope: Scope, entryId: string, line: number): Promise<Position | null> {
    return this.reader.first<Position>(POSITION, [scope.accountId, scope.mode, entryId, line]);
  }

  async balancesAt(scope: Scope, at: Date): Promise<{ currency: string; bucket: Bucket; amount: Amount }[]> {
    return this.reader.query(BALANCES_AT, [scope.accountId, scope.mode, at]);
  }
}
