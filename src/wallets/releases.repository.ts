import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, type Tx, write, writeRow, claimDue } from '../core/database/index.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { Release, ReleaseEntity } from './release.entity.js';

const IDENTITY = ['id', 'accountId', 'attempts'] as const;

/** The identity of a due release, readable even if the rest of its row is not. */
export type DueRelease = Pick<ReleaseEntity, (typeof IDENTITY)[number]>;

const INSERT = insertInto('releases.insert', ReleaseEntity, { without: ['releasedAt', 'attempts', 'nextAttemptAt'] });

/**
 * Probes an index twice for each currency: for the next release time, and for the rows of that time. Sums only the
 * money that is released then, and not all pending money.
 */
const NEXT = read(
  'releases.next',
  `SELECT b.currency, n.release_at AS "releaseAt", (
     SELECT sum(r.amount)::bigint FROM releases r
     WHERE r.account_id = $1 AND r.mode = $2 AND r.currency = b.currency AND r.release_at = n.release_at
       AND r.released_at IS NULL) AS amount
   FROM balances b CROSS JOIN LATERAL (
     SELECT r.release_at FROM releases r
     WHERE r.account_id = $1 AND r.mode = $2 AND r.currency = b.currency AND r.released_at IS NULL
     ORDER BY r.release_at LIMIT 1) n
   WHERE b.account_id = $1 AND b.mode = $2 AND b.bucket = 'pending'`,
);

/** Groups releases by their time: releases of one day of São Paulo are due at one instant. */
const CALENDAR = read(
  'releases.calendar',
  `SELECT currency, "releaseAt", amount, reserve, count FROM (
     SELECT currency, release_at AS "releaseAt", sum(amount)::bigint AS amount,
       coalesce(sum(amount) FILTER (WHERE kind = 'reserve'), 0)::bigint AS reserve, count(*) AS count,
       row_number() OVER (PARTITION BY currency ORDER BY release_at) AS number
     FROM releases
     WHERE account_id = $1 AND mode = $2 AND released_at IS NULL AND ($3::text IS NULL OR currency = $3)
     GROUP BY currency, release_at) c
   WHERE number <= $4 ORDER BY "releaseAt", currency`,
);

/** Money that is released together. */
export interface PlannedRelease {
  readonly currency: string;
  readonly releaseAt: Date;
  readonly amount: Amount;
  /** The part of `amount` that is a reserve. */
  readonly reserve: Amount;
  readonly count: number;
}

/** The expression of the index `releases_due_idx`. */
const DUE_AT = 'coalesce(next_attempt_at, release_at)';
const DUE = `released_at IS NULL AND ${DUE_AT} <= $1`;
const COLUMNS = columnsOf(Release, 'releases');

/** Claims releases by marking them released: a rollback makes them due again, so no lease is needed. */
const CLAIM = claimDue('releases.claim', 'releases', {
  dueAt: DUE_AT,
  where: 'released_at IS NULL',
  set: 'released_at = $1',
  returning: COLUMNS,
});
/** Claims the release with this id, unless another worker has it or has put it off. */
const CLAIM_ONE = write(
  'releases.claim_one',
  `UPDATE releases SET released_at = $1 WHERE id IN (
     SELECT id FROM releases WHERE id = $2 AND ${DUE} FOR UPDATE SKIP LOCKED)
   RETURNING ${COLUMNS}`,
);
const FIND_DUE = read(
  'releases.find_due',
  `SELECT ${columnsOf(ReleaseEntity, 'releases', { only: IDENTITY })} FROM releases WHERE ${DUE} ORDER BY ${DUE_AT} LIMIT $2`,
);
/**
 * Puts off for a minute after the first failure, doubling with each, up to an hour. Rows that another worker has locked
 * are left to it.
 */
const putOff = (which: string): string =>
  `UPDATE releases SET attempts = attempts + 1,
     next_attempt_at = $1::timestamptz + least(60 * 2 ^ least(attempts, 12), 3600) * interval '1 second'
   WHERE id IN (SELECT id FROM releases WHERE ${which} AND ${DUE} FOR UPDATE SKIP LOCKED)`;
const PUT_OFF = write('releases.put_off', putOff('id = $2 AND attempts = $3'));
const PUT_OFF_ACCOUNT = write('releases.put_off_account', putOff('account_id = $2'));

/** Narrows by the index: a release is put off for an hour at most, so `DUE_AT` bounds the search. */
const OVERDUE = read(
  'releases.overdue',
  `SELECT count(*) AS rows FROM releases
   WHERE released_at IS NULL AND ${DUE_AT} <= $1::timestamptz + interval '1 hour'
     AND release_at < $1::timestamptz - interval '1 hour'`,
);

/** Limits the wait for a wallet that is locked: a worker that waits delays everybody else's releases. */
const WAIT_BRIEFLY = write('releases.wait_briefly', `SELECT set_config('lock_timeout', '1s', true)`);

@Injectable()
export class ReleasesRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, release: Release): void {
    writeRow(tx, INSERT, release);
  }

  /** The next release of each currency. */
  async next(scope: Scope): Promise<{ currency: string; releaseAt: Date; amount: Amount }[]> {
    return this.reader.query(NEXT, [scope.accountId, scope.mode]);
  }

  async claim(tx: Tx, now: Date, limit: number): Promise<Release[]> {
    return tx.query(CLAIM, [now, limit]);
  }

  /** @returns null when another worker has it, or it is no longer due */
  async claimOne(tx: Tx, now: Date, id: string): Promise<Release | null> {
    return tx.first<Release>(CLAIM_ONE, [now, id]);
  }

  /** Returns the first planned releases, by their time. @param currency null for all */
  async calendar(scope: Scope, currency: string | null, limit: number): Promise<PlannedRelease[]> {
    return this.reader.query<PlannedRelease & Record<string, unknown>>(CALENDAR, [
      ...[scope.accountId, scope.mode, currency, limit],
    ]);
  }

  /** Finds the releases that `claim` would take, without taking them. */
  async findDue(now: Date, limit: number): Promise<DueRelease[]> {
    return this.reader.query(FIND_DUE, [now, limit]);
  }

  /** @returns how many are an hour late or more, also those that are put off */
  async overdue(now: Date): Promise<number> {
    const [row] = await this.reader.query<{ rows: number }>(OVERDUE, [now]);
    return row?.rows ?? 0;
  }

  /** Makes `tx` fail from here on when it waits for a lock for more than a second. */
  waitBriefly(tx: Tx): void {
    tx.defer(WAIT_BRIEFLY, []);
  }

  /** Puts a release off once for each attempt, however many workers made the attempt. */
  putOff(tx: Tx, now: Date, release: DueRelease): void {
    tx.defer(PUT_OFF, [now, release.id, release.attempts]);
  }

  /** Puts off all due releases of an account. */
  putOffAccount(tx: Tx, now: Date, accountId: string): void {
    tx.defer(PUT_OFF_ACCOUNT, [now, accountId]);
  }
}
