import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { columnsOf, insertInto, nullsOf, read, Reader, type Tx, write } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idBound, idRange } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { OperatorQueues } from '../core/operator-queues.js';
import { COUNT_LIMIT, type CurrencyTotal, totalsOf } from '../core/totals.js';
import { Payout, type PayoutFailure, type ProcessingReason } from './payout.entity.js';
import { PayoutReturnEntity } from './payout-return.entity.js';
import { PAYOUT_MOVES, type PayoutStatus, type PayoutTrigger } from './payouts.machine.js';
import type { KnownTarget, SentSums } from './payouts.rules.js';

/** A part of a payout that came back, as answers show it. */
export interface ShownReturn {
  readonly amount: Amount;
  readonly end_to_end_id: string | null;
  readonly return_id: string;
  readonly reason: string | null;
  /** ISO 8601 in UTC. */
  readonly at: string;
}

/** A payout with its returns, oldest first. */
export interface WholePayout extends Payout {
  readonly returns: readonly ShownReturn[];
}

const COLUMNS = `${columnsOf(Payout, 'p')}, CASE WHEN p.amount_returned = 0 THEN '[]' ELSE (
     SELECT jsonb_agg(jsonb_build_object('amount', r.amount, 'end_to_end_id', r.end_to_end_id, 'return_id', r.return_id,
       'reason', r.reason, 'at', to_char(r.returned_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
       ORDER BY r.returned_at, r.return_id)
     FROM payout_returns r WHERE r.payout_id = p.id) END AS returns`;

const INSERT = insertInto('payouts.insert', Payout);
const FIND = read(
  'payouts.find',
  `SELECT ${COLUMNS} FROM payouts p WHERE p.id = $3 AND p.account_id = $1 AND p.mode = $2`,
);
const FIND_ANY = read('payouts.find_any', `SELECT ${COLUMNS} FROM payouts p WHERE p.id = $1`);
const LOCK = write('payouts.lock', `SELECT ${COLUMNS} FROM payouts p WHERE p.id = $1 FOR UPDATE`);
const LIST = read(
  'payouts.list',
  `SELECT ${COLUMNS} FROM payouts p WHERE p.account_id = $1 AND p.mode = $2
     AND p.id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND p.id >= $4::uuid AND p.id <= $5::uuid
     AND ($6::text[] IS NULL OR p.status = ANY ($6)) AND ($7::uuid IS NULL OR p.destination_id = $7)
   ORDER BY p.id DESC LIMIT $8`,
);
const TOTALS = totalsOf(LIST);
const MOVE = write(
  'payouts.move',
  `UPDATE payouts p SET status = $3, updated_at = $4,
     sent_at = CASE $3 WHEN 'SENDING' THEN $4 WHEN 'QUEUED' THEN NULL ELSE p.sent_at END,
     processing_reason = CASE $3 WHEN 'SENDING' THEN 'unknown' END,
     end_to_end_id = coalesce(p.end_to_end_id, $5), failure = $6, provider_fee = coalesce($7, p.provider_fee),
     paid_at = coalesce($8, p.paid_at), send_after = coalesce($9, p.send_after),
     approved_by = coalesce($10, p.approved_by),
     approved_at = CASE WHEN $10::uuid IS NULL THEN p.approved_at ELSE $4 END
   WHERE p.id = $1 AND p.status = ANY ($2) RETURNING ${COLUMNS}`,
);
const NOTE = write(
  'payouts.note',
  `UPDATE payouts SET processing_reason = $2, end_to_end_id = coalesce(end_to_end_id, $3), updated_at = $4
   WHERE id = $1 AND status = 'SENDING' AND (processing_reason IS DISTINCT FROM $2 OR (end_to_end_id IS NULL AND $3::text IS NOT NULL))`,
);
const RELEASE_WAIT = write(
  'payouts.release_wait',
  `UPDATE payouts p SET send_after = $2, approved_by = $3, approved_at = $2, updated_at = $2
   WHERE p.id = $1 AND p.status = 'QUEUED' RETURNING ${COLUMNS}`,
);
/** Locks in the order of the ids, as others who lock several payouts do. */
const RELEASE_WAITS = write(
  'payouts.release_waits',
  `WITH waiting AS MATERIALIZED (
     SELECT p.id FROM payouts p WHERE (p.account_id, p.mode, p.target_hash) = ($1, $2, $3)
       AND p.status IN ('AWAITING', 'QUEUED') AND p.send_after > $4 ORDER BY p.id FOR UPDATE)
   UPDATE payouts p SET send_after = $4, updated_at = $4 FROM waiting w WHERE p.id = w.id RETURNING p.id, p.status`,
);
const ADD_RETURN = insertInto('payouts.add_return', PayoutReturnEntity, {
  after: 'ON CONFLICT (payout_id, return_id) DO NOTHING RETURNING 1',
});
/** A return that an operator has entered as a loss of less than nothing, under the bank's id. */
const IS_ENTERED = read(
  'payouts.is_entered',
  `SELECT 1 FROM corrections c WHERE c.account_id = $1 AND c.mode = $2 AND c.kind = 'loss' AND c.status = 'applied'
     AND c.bank_reference = $3 HAVING sum(c.amount) < 0`,
);
const COUNT_RETURN = write(
  'payouts.count_return',
  `UPDATE payouts p SET amount_returned = amount_returned + $2, updated_at = $3,
     status = CASE WHEN amount_returned + $2 = amount THEN 'REFUNDED' ELSE status END
   WHERE p.id = $1 AND p.status = 'PAID' RETURNING ${COLUMNS}`,
);
const OPENING_FACTS = read(
  'payouts.opening_facts',
  `SELECT EXISTS (
       SELECT 1 FROM payouts p WHERE (p.account_id, p.mode, p.target_hash) = ($1, $2, $3)
         AND p.status IN ('PAID', 'REFUNDED')) AS "wasPaid",
     EXISTS (
       SELECT 1 FROM payout_destinations d WHERE (d.account_id, d.mode, d.target_hash) = ($1, $2, $3)
         AND d.deleted_at IS NULL AND d.approved_at IS NOT NULL) AS "isApproved",
     (SELECT p.id FROM payouts p WHERE (p.account_id, p.mode, p.target_hash) = ($1, $2, $3) AND p.amount = $4
        AND p.created_at > $5 AND p.status NOT IN ('FAILED', 'CANCELLED') ORDER BY p.id LIMIT 1) AS duplicate,
     coalesce(sum(s.amount) FILTER (WHERE s.created_at >= $6), 0)::bigint AS day,
     coalesce(sum(s.amount) FILTER (WHERE s.created_at >= $7::timestamptz), 0)::bigint AS night
   FROM (SELECT p.amount, p.created_at FROM payouts p WHERE p.account_id = $1 AND p.mode = $2 AND p.id >= $8::uuid
     AND p.status NOT IN ('FAILED', 'CANCELLED')) s`,
);
const HAS_OCCURRENCE = read(
  'payouts.has_occurrence',
  'SELECT 1 FROM payouts p WHERE p.account_id = $1 AND p.occurrence = $2',
);
const LOCK_CONNECTION = write('payouts.lock_connection', `SELECT pg_advisory_xact_lock(hashtext('payouts ' || $1))`);
const LOCK_NIGHT = write(
  'payouts.lock_night',
  `SELECT pg_advisory_xact_lock(hashtext('payouts at night ' || $1 || ' ' || $2))`,
);
const SENT_SINCE = read(
  'payouts.sent_since',
  `SELECT coalesce(sum(amount), 0)::bigint AS sum FROM payouts
   WHERE account_id = $1 AND mode = $2 AND sent_at >= $3 AND status IN ('SENDING', 'PAID', 'REFUNDED')`,
);
const PUT_OFF = write(
  'payouts.put_off',
  `UPDATE payouts SET send_after = $2, updated_at = $3 WHERE id = $1 AND status = 'QUEUED'`,
);
/** A send that the PSP reviews, or that has no end after two minutes, does not hold up the others. */
const UNDER_WAY = read(
  'payouts.under_way',
  `SELECT count(*)::int AS count FROM payouts
   WHERE acquirer = $1 AND status = 'SENDING' AND processing_reason IN ('sent', 'unknown') AND sent_at > $2`,
);
const UNDER_WAY_MS = 2 * 60_000;
const NEXT_QUEUED = read(
  'payouts.next_queued',
  `SELECT id FROM payouts WHERE acquirer = $1 AND status = 'QUEUED' AND send_after <= $2
   ORDER BY send_after, id LIMIT 1`,
);
/** Payouts for an operator's eye: sent before $1 without a known end, or to be sent before $2 and not taken by the bank. */
const UNCERTAIN = `(p.status = 'SENDING' AND p.processing_reason <> 'sent' AND p.sent_at < $1
     OR p.status = 'QUEUED' AND p.send_after < $2)`;
const COUNT_UNCERTAIN = read(
  'payouts.count_uncertain',
  `SELECT count(*)::int AS waiting, min(coalesce(p.sent_at, p.send_after)) AS since FROM payouts p WHERE ${UNCERTAIN}`,
);
const LIST_UNCERTAIN = read(
  'payouts.list_uncertain',
  `SELECT ${COLUMNS} FROM payouts p WHERE ${UNCERTAIN}
     AND p.id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND p.id >= $4::uuid AND p.id <= $5::uuid
   ORDER BY p.id DESC LIMIT $6`,
);
const UNCERTAIN_AFTER_MS = 5 * 60_000;
const OVERDUE_AFTER_MS = 30 * 60_000;

export interface PayoutFilter extends IdCursorFilter {
  readonly statuses: readonly PayoutStatus[] | null;
  readonly destinationId: string | null;
}

/** Facts recorded by a move. Left out: unchanged. */
export interface PayoutFacts {
  readonly endToEndId?: string | null;
  readonly failure?: PayoutFailure;
  readonly providerFee?: Amount;
  readonly paidAt?: Date;
  readonly sendAfter?: Date;
  readonly approvedBy?: string;
}

/** Facts about a new payout's receiver and about the payouts before it. */
export interface OpeningFacts extends SentSums, KnownTarget {
  /** The payout that this one seems to repeat. */
  readonly duplicate: string | null;
}

/** Search terms of `openingFacts`. */
export interface OpeningFactsQuery {
  readonly targetHash: Buffer;
  readonly amount: Amount;
  /** Earlier payouts do not count as repeated. */
  readonly repeatedSince: Date;
  readonly day: Date;
  readonly night: Date | null;
}

/** Nullable columns of a new payout. */
export const NEW_PAYOUT = nullsOf(Payout);

@Injectable()
export class PayoutsRepository {
  constructor(
    private readonly reader: Reader,
    private readonly clock: Clock,
    queues: OperatorQueues,
  ) {
    queues.register('payouts', COUNT_UNCERTAIN, () => this.#uncertainBefore());
  }

  insert(tx: Tx, payout: Payout): void {
    tx.defer(INSERT, INSERT.valuesOf(payout));
  }

  async find(scope: Scope, id: string): Promise<WholePayout | null> {
    return this.reader.first<WholePayout>(FIND, [scope.accountId, scope.mode, id]);
  }

  /** Reads across accounts, for workers and operators. */
  async findAny(id: string): Promise<WholePayout | null> {
    return this.reader.first<WholePayout>(FIND_ANY, [id]);
  }

  async lock(tx: Tx, id: string): Promise<WholePayout | null> {
    return tx.first<WholePayout>(LOCK, [id]);
  }

  /** Newest first. */
  async list(scope: Scope, filter: PayoutFilter): Promise<WholePayout[]> {
    return this.reader.query(LIST, listValues(scope, filter));
  }

  /** Counts what the list has, at most `COUNT_LIMIT`. */
  async totals(scope: Scope, filter: PayoutFilter): Promise<CurrencyTotal[]> {
    return this.reader.query(TOTALS, listValues(scope, { ...filter, before: null, limit: COUNT_LIMIT }));
  }

  /** @returns the moved payout, or null when its status no longer allows the move: it was moved meanwhile */
  async move(tx: Tx, id: string, trigger: PayoutTrigger, at: Date, facts: PayoutFacts): Promise<WholePayout | null> {
    const { from, to } = PAYOUT_MOVES[trigger];
    const { endToEndId, failure, providerFee, paidAt, sendAfter, approvedBy } = facts;
    return tx.first<WholePayout>(MOVE, [
      ...[id, from, to, at, endToEndId, failure, providerFee, paidAt, sendAfter, approvedBy],
    ]);
  }

  /** Writes why a payout at the PSP is not over. */
  note(tx: Tx, id: string, reason: ProcessingReason, endToEndId: string | null, at: Date): void {
    tx.defer(NOTE, [id, reason, endToEndId, at]);
  }

  /** Ends the wait of a payout to a new destination. @returns null when it was moved meanwhile */
  async releaseWait(tx: Tx, id: string, by: string, at: Date): Promise<WholePayout | null> {
    return tx.first<WholePayout>(RELEASE_WAIT, [id, at, by]);
  }

  /**
   * Ends the wait of all payouts to a receiver whose destination was approved.
   * @returns the ids of payouts that may be sent now
   */
  async releaseWaits(tx: Tx, { accountId, mode }: Scope, targetHash: Buffer, at: Date): Promise<string[]> {
    const values = [accountId, mode, targetHash, at];
    const rows = await tx.query<{ id: string; status: PayoutStatus }>(RELEASE_WAITS, values);
    return rows.filter(({ status }) => status === 'QUEUED').map(({ id }) => id);
  }

  /** @returns whether an operator has given the merchant the money of this return */
  async isEntered(tx: Tx, { accountId, mode }: Scope, returnId: string): Promise<boolean> {
    return (await tx.query(IS_ENTERED, [accountId, mode, returnId])).length > 0;
  }

  /** @returns false when this return was recorded before */
  async addReturn(tx: Tx, entity: PayoutReturnEntity): Promise<boolean> {
    return (await tx.query(ADD_RETURN, ADD_RETURN.valuesOf(entity))).length > 0;
  }

  /** Adds to the returned amount. With all of it back, the payout is REFUNDED (move `returned`). */
  async countReturn(tx: Tx, id: string, amount: Amount, at: Date): Promise<WholePayout | null> {
    return tx.first<WholePayout>(COUNT_RETURN, [id, amount, at]);
  }

  /** Reads the facts for deciding on a new payout. The caller holds the wallet's lock. */
  async openingFacts(tx: Tx, scope: Scope, query: OpeningFactsQuery): Promise<OpeningFacts> {
    const { targetHash, amount, repeatedSince, day, night } = query;
    const since = idBound(night !== null && night < day ? night : day, 'min');
    const [row] = await tx.query<OpeningFacts>(OPENING_FACTS, [
      ...[scope.accountId, scope.mode, targetHash, amount, repeatedSince, day, night, since],
    ]);
    if (!row) throw new Error('A query of sums gave no row');
    return row;
  }

  /** @returns whether the account's schedule has made its payout of that time */
  async hasOccurrence(tx: Tx, accountId: string, occurrence: Date): Promise<boolean> {
    return (await tx.query(HAS_OCCURRENCE, [accountId, occurrence])).length > 0;
  }

  /** Lets one transaction at a time begin sends of a connection. @returns how many sends are under way */
  async lockAndCountUnderWay(tx: Tx, acquirer: string): Promise<number> {
    await tx.query(LOCK_CONNECTION, [acquirer]);
    const [row] = await tx.query<{ count: number }>(UNDER_WAY, [
      acquirer,
      new Date(this.clock.now().getTime() - UNDER_WAY_MS),
    ]);
    return row?.count ?? 0;
  }

  /**
   * Lets one transaction at a time begin sends of an account by night.
   * @returns the cents of its payouts that were given to the PSP since `night` began, and did not fail
   */
  async lockAndSumSince(tx: Tx, { accountId, mode }: Scope, night: Date): Promise<Amount> {
    await tx.query(LOCK_NIGHT, [accountId, mode]);
    const [row] = await tx.query<{ sum: Amount }>(SENT_SINCE, [accountId, mode, night]);
    return row?.sum ?? 0;
  }

  /** Has a queued payout sent later. */
  putOff(tx: Tx, id: string, until: Date, at: Date): void {
    tx.defer(PUT_OFF, [id, until, at]);
  }

  /** @returns the id of the connection's payout that has waited longest to be sent; null: none waits */
  async nextQueued(tx: Tx, acquirer: string, now: Date): Promise<string | null> {
    const [row] = await tx.query<{ id: string }>(NEXT_QUEUED, [acquirer, now]);
    return row?.id ?? null;
  }

  /** Payouts whose end is not known or that the PSP does not take, newest first. Across accounts: for operators. */
  async uncertain(filter: IdCursorFilter): Promise<WholePayout[]> {
    const { before, createdFrom, createdTo, limit } = filter;
    return this.reader.query(LIST_UNCERTAIN, [
      ...this.#uncertainBefore(),
      before,
      ...idRange(createdFrom, createdTo),
      limit,
    ]);
  }

  #uncertainBefore(): Date[] {
    const now = this.clock.now().getTime();
    return [UNCERTAIN_AFTER_MS, OVERDUE_AFTER_MS].map((ms) => new Date(now - ms));
  }
}

function listValues({ accountId, mode }: Scope, filter: PayoutFilter): unknown[] {
  const { before, createdFrom, createdTo, statuses, destinationId, limit } = filter;
  return [accountId, mode, before, ...idRange(createdFrom, createdTo), statuses, destinationId, limit];
}
