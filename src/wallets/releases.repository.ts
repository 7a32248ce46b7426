import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { Mode, Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';

/** Money that waits in `pending` for its day. */
export interface Release extends Scope {
  readonly id: string;
  readonly currency: string;
  readonly transactionId: string;
  readonly amount: Amount;
  readonly releaseAt: Date;
}

/** One that is due, without its money: also of a row that cannot be read in full. */
export interface DueRelease {
  readonly id: string;
  readonly accountId: string;
  /** That failed. */
  readonly attempts: number;
}

const INSERT = statement(
  'releases.insert',
  `INSERT INTO releases (id, account_id, mode, currency, transaction_id, amount, release_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);

const NEXT = statement(
  'releases.next',
  `SELECT DISTINCT ON (currency) currency, release_at, sum(amount)::bigint AS amount FROM releases
   WHERE account_id = $1 AND mode = $2 AND released_at IS NULL
   GROUP BY currency, release_at ORDER BY currency, release_at`,
);

const DUE = `released_at IS NULL AND release_at <= $1 AND (next_attempt_at IS NULL OR next_attempt_at <= $1)`;
const COLUMNS = 'id, account_id, mode, currency, transaction_id, amount, release_at';

/** Marked released by the statement that claims them: a rollback makes them due again, so no lease is needed. */
const CLAIM = statement(
  'releases.claim',
  `UPDATE releases SET released_at = $1 WHERE id IN (
     SELECT id FROM releases WHERE ${DUE} ORDER BY release_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING ${COLUMNS}`,
);
/** The same for one, unless another worker has it or has put it off. */
const CLAIM_ONE = statement(
  'releases.claim_one',
  `UPDATE releases SET released_at = $1 WHERE id IN (
     SELECT id FROM releases WHERE id = $2 AND ${DUE} FOR UPDATE SKIP LOCKED)
   RETURNING ${COLUMNS}`,
);
const FIND_DUE = statement(
  'releases.find_due',
  `SELECT id, account_id, attempts FROM releases WHERE ${DUE} ORDER BY release_at LIMIT $2`,
);
const PUT_OFF = statement(
  'releases.put_off',
  `UPDATE releases SET attempts = attempts + 1, next_attempt_at = $3
   WHERE id = $1 AND attempts = $2 AND released_at IS NULL`,
);

interface Row {
  id: string;
  account_id: string;
  mode: Mode;
  currency: string;
  transaction_id: string;
  amount: Amount;
  release_at: Date;
}

@Injectable()
export class ReleasesRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, release: Release): void {
    tx.defer(INSERT, [
      release.id,
      release.accountId,
      release.mode,
      release.currency,
      release.transactionId,
      release.amount,
      release.releaseAt,
    ]);
  }

  /** Of each currency what is released next. */
  async next(scope: Scope): Promise<{ currency: string; release_at: Date; amount: Amount }[]> {
    return this.reader.query(NEXT, [scope.accountId, scope.mode]);
  }

  async claim(tx: Tx, now: Date, limit: number): Promise<Release[]> {
    return (await tx.query<Row>(CLAIM, [now, limit])).map(toRelease);
  }

  /** @returns null when another worker has it, or it is no longer due */
  async claimOne(tx: Tx, now: Date, id: string): Promise<Release | null> {
    const [row] = await tx.query<Row>(CLAIM_ONE, [now, id]);
    return row ? toRelease(row) : null;
  }

  /** What `claim` would take, without taking it. */
  async findDue(now: Date, limit: number): Promise<DueRelease[]> {
    const rows = await this.reader.query<{ id: string; account_id: string; attempts: number }>(FIND_DUE, [now, limit]);
    return rows.map((row) => ({ id: row.id, accountId: row.account_id, attempts: row.attempts }));
  }

  putOff(tx: Tx, release: DueRelease, until: Date): void {
    tx.defer(PUT_OFF, [release.id, release.attempts, until]);
  }
}

function toRelease(row: Row): Release {
  return {
    id: row.id,
    accountId: row.account_id,
    mode: row.mode,
    currency: row.currency,
    transactionId: row.transaction_id,
    amount: row.amount,
    releaseAt: row.release_at,
  };
}
