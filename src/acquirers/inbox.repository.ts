import { Injectable } from '@nestjs/common';
import {
  BY_INDEX,
  columnsOf,
  oneOf,
  queryRows,
  read,
  Reader,
  removeDue,
  rowQuery,
  rowWrite,
  type Tx,
  valuesOfFields,
  wanted,
  write,
  writeRow,
  writeRows,
} from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idRange } from '../core/ids.js';
import { OperatorQueues } from '../core/operator-queues.js';
import { DUE_TIMES, LowWaterMark } from '../core/queue/index.js';
import type { Dispute, NotificationHint, ReceivedPix } from './acquirer.port.js';
import type { Ask, Line } from './inbox-places.js';
import { AcquirerNotificationEntity, type DisputeNote, type PixNote } from './notification.entity.js';
import { DAY_MS } from '../core/clock.js';
import { Retained } from '../core/retention.js';

const IGNORED_KEPT_MS = 30 * DAY_MS;
/** Stored as `last_error` when the acquirer does not know the reported object. */
export const UNKNOWN = 'the acquirer does not know it';
/** How long a dispute that only callbacks have reported blocks refunds while the acquirer has not answered. */
const UNCONFIRMED_HOLD = `interval '10 minutes'`;

const READ = [
  'id',
  'acquirer',
  'kind',
  'reference',
  'txid',
  'attempts',
  'hints',
  'lastError',
  'isUnconfirmed',
] as const;
const WAITS = ['id', 'acquirer', 'reference', 'receivedAt'] as const;
const UNREAD = ['id', 'acquirer', 'kind', 'reference', 'receivedAt'] as const;

export interface Notification extends Pick<AcquirerNotificationEntity, (typeof READ)[number]> {
  /** The acquirer has said that it has the object. */
  readonly isConfirmed: boolean;
  /** A Pix as the acquirer's list or its charge shows it. */
  readonly shown: ReceivedPix | null;
}

type FoundRow = Omit<Notification, 'shown'> & { readonly note: PixNote | null };

/** Lines with hints that were due at `now`. */
export interface DueLines {
  readonly lines: Line[];
  readonly now: Date;
  /** Hints that were due before this time were not looked for. */
  readonly from: number;
}

export interface Claimed {
  readonly notifications: Notification[];
  /** Whether due hints may be left. */
  readonly isMore: boolean;
}

interface Closing {
  readonly notification: Notification;
  readonly status: 'applied' | 'ignored';
  readonly at: Date;
  readonly error: string | null;
}

/** A hint with the id of its row, if it is new. */
type NewHint = NotificationHint & { readonly id: string };

/** A dispute whose payment is not settled here, as the acquirer last reported it. */
export interface WaitingDispute
  extends
    Pick<Dispute, 'type' | 'amount' | 'status' | 'openedAt' | 'responseDeadline'>,
    Pick<AcquirerNotificationEntity, (typeof WAITS)[number]> {
  readonly awaits: string;
}

/** Something that an acquirer has and that cannot be read. */
export interface UnreadableNews extends Pick<AcquirerNotificationEntity, (typeof UNREAD)[number]> {
  readonly unreadableSince: Date;
}

const STORED = 'id, acquirer, kind, reference, received_at, next_attempt_at, is_hearsay, txid, about';
/**
 * True if a repeated report has to be applied again. Disputes, charges and payouts change after they were applied: the
 * acquirer's list may report a return before its look-up shows it. A Pix is
 * applied again if the acquirer itself shows it, or names it as the payment of a charge: it may be unmatched, or not
 * settled here.
 */
const GOES_ON = `(n.kind IN ('dispute', 'charge', 'payout') OR (n.kind = 'pix' AND (excluded.about IS NOT NULL
       OR (excluded.txid IS NOT NULL AND NOT excluded.is_hearsay))))`;
/**
 * If a closed report is opened again, it starts anew: no answer yet, and a dispute's hold on refunds counts from now.
 */
const ON_REPETITION = `ON CONFLICT (acquirer, kind, reference) DO UPDATE
     SET hints = n.hints + 1,
         received_at = CASE WHEN n.kind = 'dispute' AND n.is_hearsay AND n.status <> 'pending'
           THEN excluded.received_at ELSE n.received_at END,
         last_error = CASE WHEN n.status <> 'ignored' THEN n.last_error END,
         is_hearsay = n.is_hearsay AND excluded.is_hearsay,
         txid = CASE WHEN excluded.is_hearsay THEN coalesce(n.txid, excluded.txid)
           ELSE coalesce(excluded.txid, n.txid) END,
         about = coalesce(excluded.about, n.about),
         status = CASE WHEN n.status = 'ignored' OR ${GOES_ON} THEN 'pending' ELSE n.status END,
         attempts = CASE WHEN n.status = 'ignored' OR (${GOES_ON} AND n.status = 'applied')
           THEN 0 ELSE n.attempts END,
         next_attempt_at = CASE WHEN n.status = 'ignored' OR (${GOES_ON} AND n.status = 'applied')
           THEN excluded.next_attempt_at ELSE least(n.next_attempt_at, excluded.next_attempt_at) END`;
/**
 * Some PSPs write a txid in capitals: a hint keeps the charge's own spelling, which other queries compare with. The
 * exact spelling comes first, then the charge whose Pix is settled, then an open charge.
 */
const ownTxid = (
  acquirer: string,
  reference: string,
  txid: string,
): string => `CASE WHEN ${txid}::text IS NOT NULL THEN coalesce(
  (SELECT t.txid FROM transactions t WHERE t.txid = ${txid}::text),
  (SELECT t.txid FROM settlements s JOIN transactions t ON t.id = s.transaction_id
   WHERE s.end_to_end_id = split_part(${reference}::text, '/', 1) AND s.namespace IS NULL
     AND t.acquirer = ${acquirer}::text AND lower(t.txid) = lower(${txid}::text)),
  (SELECT t.txid FROM transactions t WHERE t.acquirer = ${acquirer}::text AND lower(t.txid) = lower(${txid}::text)
     AND t.status IN ('PENDING', 'WAITING_PAYMENT', 'PROCESSING') LIMIT 1),
  ${txid}::text) END`;
const HINTS = wanted(['uuid', 'text', 'text', 'text', 'timestamptz', 'timestamptz', 'text', 'jsonb']);
/**
 * Stores hints. A repeated notification finds its row. If that row was set aside, or is applied but can still change,
 * it becomes due again. Every process writes several hints in one order, so that two writers of the same hints do not
 * deadlock.
 */
const STORE = rowQuery(
  write(
    'inbox.store',
    `INSERT INTO acquirer_notifications AS n (${STORED}) VALUES ($1, $2, $3, $4, $5, $6, false, ${ownTxid('$2', '$4', '$7')}, $8) ${ON_REPETITION} RETURNING id`,
  ),
  write(
    'inbox.store_each',
    `WITH stored AS (
       INSERT INTO acquirer_notifications AS n (${STORED})
       SELECT p1, p2, p3, p4, p5, p6, false, ${ownTxid('p2', 'p4', 'p7')}, p8 FROM ${HINTS} ORDER BY p2, p3, p4 ${ON_REPETITION}
       RETURNING id, acquirer, kind, reference)
     SELECT w.n AS "#", s.id FROM ${HINTS} JOIN stored s ON (s.acquirer, s.kind, s.reference) = (w.p2, w.p3, w.p4)`,
  ),
);
/**
 * Stores a callback's reports while there is room. Reports that have been due for ten minutes do not count. While
 * somebody holds a snapshot, a count of all would read past every report that was confirmed since.
 */
const STORE_UNCONFIRMED = write(
  'inbox.store_unconfirmed',
  `WITH room AS (
     SELECT least($6 - count(*), $7 - count(*) FILTER (WHERE received_at > $5::timestamptz - interval '1 minute')) AS places
     FROM acquirer_notifications
     WHERE acquirer = $1 AND is_hearsay AND status = 'pending' AND next_attempt_at > $5::timestamptz - interval '10 minutes')
   INSERT INTO acquirer_notifications AS n (${STORED})
   SELECT h.id, $1, h.kind, h.reference, $5, $5, true, ${ownTxid('$1', 'h.reference', 'h.txid')}, NULL
   FROM unnest($2::uuid[], $3::text[], $4::text[], $8::text[]) AS h (id, kind, reference, txid)
   ORDER BY h.kind, h.reference LIMIT greatest(0, (SELECT places FROM room)) ${ON_REPETITION} RETURNING 1`,
);
/**
 * Condition for a notification that is found by another column. As an expression, no plan can use the index of pending
 * rows, which would read all pending ones and many dead entries.
 */
const isPending = (status: string): string => `${status} || '' = 'pending'`;
const FIND_PENDING = oneOf(
  read(
    'inbox.find_pending',
    `SELECT ${columnsOf(AcquirerNotificationEntity, 'acquirer_notifications', { only: READ })},
       unreadable_since IS NOT NULL OR awaits IS NOT NULL AS "isConfirmed",
       CASE kind WHEN 'pix' THEN about END AS note
     FROM acquirer_notifications WHERE id = $1 AND ${isPending('status')}`,
  ),
  'uuid',
);
/** Marks that a dispute is being queried anew: earlier answers are not the latest. */
const BEGIN = write(
  'inbox.begin',
  `UPDATE acquirer_notifications SET hints = hints + 1, next_attempt_at = greatest(next_attempt_at, $2)
   WHERE id = $1 AND ${isPending('status')} RETURNING hints`,
);
const PROLONG = write(
  'inbox.prolong',
  `UPDATE acquirer_notifications SET next_attempt_at = greatest(next_attempt_at, $2)
   WHERE id = $1 AND ${isPending('status')} AND hints = $3`,
);
const IS_LATEST = read(
  'inbox.is_latest',
  `SELECT 1 FROM acquirer_notifications WHERE id = $1 AND ${isPending('status')} AND hints = $2`,
);
const DUE = `status = 'pending' AND next_attempt_at <= $1 AND next_attempt_at >= $2`;
/** Jumps from line to line and reads only the first due hint of each. */
const DUE_LINES = read(
  'inbox.due_lines',
  `WITH RECURSIVE line (acquirer, is_hearsay) AS (
     (SELECT acquirer, is_hearsay FROM acquirer_notifications WHERE ${DUE}
      ORDER BY acquirer, is_hearsay, next_attempt_at LIMIT 1)
     UNION ALL
     SELECT next.* FROM line l CROSS JOIN LATERAL (
       SELECT acquirer, is_hearsay FROM acquirer_notifications
       WHERE ${DUE} AND (acquirer, is_hearsay) > (l.acquirer, l.is_hearsay)
       ORDER BY acquirer, is_hearsay, next_attempt_at LIMIT 1) next)
   SELECT acquirer, is_hearsay AS "isUnconfirmed" FROM line`,
);
const OLDEST_DUE = read(
  'inbox.oldest_due',
  `SELECT min(next_attempt_at) AS "dueAt" FROM acquirer_notifications WHERE status = 'pending' AND next_attempt_at <= $1`,
);
/** If a crash loses a lease, nothing is lost: its hint is due again. So the commit does not wait for the disk. */
const LEASE_MAY_BE_LOST = write('inbox.lease_may_be_lost', `SELECT set_config('synchronous_commit', 'off', true)`);
/**
 * Claims from several lines at once, each with its own room, so `claimDue` does not fit. Materialized: a plan could
 * otherwise search again for each updated row, and find more every time.
 */
const CLAIM = write(
  'inbox.claim',
  `WITH taken AS MATERIALIZED (
     SELECT due.id FROM unnest($3::text[], $4::boolean[], $5::int[]) AS l (acquirer, is_hearsay, room)
     CROSS JOIN LATERAL (
       SELECT id FROM acquirer_notifications n
       WHERE n.acquirer = l.acquirer AND n.is_hearsay = l.is_hearsay AND ${DUE} AND id <> ALL ($6::uuid[])
       ORDER BY next_attempt_at LIMIT l.room FOR UPDATE SKIP LOCKED) due)
   UPDATE acquirer_notifications n SET next_attempt_at = CASE n.kind WHEN 'dispute' THEN $8::timestamptz ELSE $7::timestamptz END
   FROM taken WHERE n.id = taken.id
   RETURNING ${columnsOf(AcquirerNotificationEntity, 'n', { only: READ })},
     n.unreadable_since IS NOT NULL OR n.awaits IS NOT NULL AS "isConfirmed", CASE n.kind WHEN 'pix' THEN n.about END AS note`,
);
/**
 * Puts off reports that are being queried too: the end of their query sets another time. No claim: takes all rows that
 * nobody has locked.
 */
const PUT_OFF_UNCONFIRMED = write(
  'inbox.put_off_unconfirmed',
  `WITH put_off AS (
     UPDATE acquirer_notifications SET next_attempt_at = $3::timestamptz + make_interval(secs => $4::float8 * random())
     WHERE id IN (
       SELECT id FROM acquirer_notifications
       WHERE acquirer = $1 AND is_hearsay AND status = 'pending' AND next_attempt_at <= $2 FOR UPDATE SKIP LOCKED)
     RETURNING kind)
   SELECT kind, count(*)::int AS count FROM put_off GROUP BY kind`,
);
/** Does not close a notification that was reported again since it was read: the applied state may be older. */
const CLOSED = `attempts = attempts + 1, awaits = NULL, about = NULL, unreadable_since = NULL`;
/** Several rows are locked in the order in which they are stored. */
const CLOSE = rowWrite<Closing>(
  write(
    'inbox.close',
    `UPDATE acquirer_notifications SET status = $2, applied_at = $3, last_error = $4, ${CLOSED}
     WHERE id = $1 AND ${isPending('status')} AND hints = $5`,
  ),
  write(
    'inbox.close_each',
    `UPDATE acquirer_notifications n SET status = w.p2, applied_at = w.p3, last_error = w.p4, ${CLOSED}
     FROM (SELECT w.* FROM ${wanted(['uuid', 'text', 'timestamptz', 'text', 'int'])}
       JOIN acquirer_notifications l ON l.id = w.p1 ORDER BY l.acquirer, l.kind, l.reference FOR UPDATE OF l) w
     WHERE n.id = w.p1 AND ${isPending('n.status')} AND n.hints = w.p5`,
  ),
  ({ notification: { id, hints }, status, at, error }) => [id, status, at, error, hints],
);
/**
 * Repeats a notification later. If it was reported again, or its awaited payment came since it was read, it is repeated
 * at once.
 */
const RETRY = write(
  'inbox.retry',
  `UPDATE acquirer_notifications SET attempts = $7, last_error = $3,
     next_attempt_at = CASE WHEN hints = $4 THEN $2 ELSE next_attempt_at END,
     unreadable_since = CASE WHEN $5 THEN coalesce(unreadable_since, $6) WHEN NOT $5 THEN NULL ELSE unreadable_since END
   WHERE id = $1 AND ${isPending('status')}`,
);
/** Marks a hint as unreadable before its own query. Answers to the contrary are counted anew. */
const MARK_UNREADABLE = write(
  'inbox.mark_unreadable',
  `UPDATE acquirer_notifications SET unreadable_since = coalesce(unreadable_since, $2), last_error = 'an answer could not be read'
   WHERE id = $1 AND ${isPending('status')}`,
);
const AWAIT = write(
  'inbox.await',
  'UPDATE acquirer_notifications SET awaits = $2, about = $3 WHERE id = $1 AND hints = $4',
);
const WAKE = rowWrite<{ acquirer: string; name: string; now: Date }>(
  write(
    'inbox.wake',
    `UPDATE acquirer_notifications SET next_attempt_at = $3, hints = hints + 1
     WHERE acquirer = $1 AND awaits = $2 AND ${isPending('status')}`,
  ),
  write(
    'inbox.wake_each',
    `UPDATE acquirer_notifications n SET next_attempt_at = w.p3, hints = hints + 1
     FROM ${wanted(['text', 'text', 'timestamptz'])}
     WHERE n.acquirer = w.p1 AND n.awaits = w.p2 AND ${isPending('n.status')}`,
  ),
  ({ acquirer, name, now }) => [acquirer, name, now],
);
const WAITING = read(
  'inbox.waiting',
  `SELECT ${columnsOf(AcquirerNotificationEntity, 'acquirer_notifications', { only: WAITS })}, awaits, about
   FROM acquirer_notifications
   WHERE awaits IS NOT NULL AND status = 'pending' AND id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     AND id >= $2::uuid AND id <= $3::uuid
   ORDER BY id DESC LIMIT $4`,
);

const UNREADABLE = read(
  'inbox.unreadable',
  `SELECT ${columnsOf(AcquirerNotificationEntity, 'acquirer_notifications', { only: [...UNREAD, 'unreadableSince'] })}
   FROM acquirer_notifications
   WHERE unreadable_since IS NOT NULL AND id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     AND id >= $2::uuid AND id <= $3::uuid
   ORDER BY id DESC LIMIT $4`,
);

const COUNT_WAITING = read(
  'inbox.count_waiting',
  `SELECT count(*)::int AS waiting, min(received_at) AS since FROM acquirer_notifications
   WHERE awaits IS NOT NULL AND status = 'pending'`,
);
const COUNT_UNREADABLE = read(
  'inbox.count_unreadable',
  `SELECT count(*)::int AS waiting, min(unreadable_since) AS since FROM acquirer_notifications
   WHERE unreadable_since IS NOT NULL`,
);

interface WaitingRow extends Pick<WaitingDispute, (typeof WAITS)[number] | 'awaits'> {
  readonly about: DisputeNote;
}

/** Returns a row if a Pix is reported for a charge and not yet confirmed by the acquirer. */
const TOLD = read(
  'inbox.told',
  `SELECT 1 FROM acquirer_notifications
   WHERE acquirer = $1 AND txid = $2 AND status = 'pending' AND kind <> 'dispute' LIMIT 1`,
);
/**
 * Returns a row if a reported dispute blocks refunds of its charge. Anybody who knows the callback address may have
 * made up an unconfirmed report: such a report ends with the acquirer's answer "not known", or after ten minutes.
 */
const DISPUTE_TOLD = read(
  'inbox.dispute_told',
  `SELECT 1 FROM acquirer_notifications
   WHERE acquirer = $1 AND txid = $2 AND status = 'pending' AND kind = 'dispute'
     AND (NOT is_hearsay OR (last_error IS DISTINCT FROM '${UNKNOWN}' AND received_at > $3::timestamptz - ${UNCONFIRMED_HOLD}))
   LIMIT 1`,
);
const STATE = read(
  'inbox.state',
  `SELECT status, received_at AS "receivedAt" FROM acquirer_notifications
   WHERE acquirer = $1 AND kind = $2 AND reference = $3`,
);
const SET_ASIDE = read(
  'inbox.set_aside',
  `SELECT n.kind, n.reference FROM acquirer_notifications n
   JOIN unnest($2::text[], $3::text[]) AS w (kind, reference) ON (n.kind, n.reference) = (w.kind, w.reference)
   WHERE n.acquirer = $1 AND n.status = 'ignored'`,
);
/** Makes reports due at once. No claim: a locked row is being queried already. */
const HASTEN = write(
  'inbox.hasten',
  `UPDATE acquirer_notifications SET next_attempt_at = $3 WHERE id IN (
     SELECT id FROM acquirer_notifications WHERE acquirer = $1 AND txid = $2 AND status = 'pending' AND next_attempt_at > $3
     FOR UPDATE SKIP LOCKED)`,
);
const REMOVE_IGNORED = removeDue('inbox.remove_ignored', 'acquirer_notifications', {
  dueAt: 'next_attempt_at',
  where: `status = 'ignored'`,
});

@Injectable()
export class InboxRepository {
  /** All hints that were due before this time have been claimed. */
  readonly #due = new LowWaterMark(DUE_TIMES);

  constructor(
    private readonly reader: Reader,
    queues: OperatorQueues,
  ) {
    queues.register('med_waiting', COUNT_WAITING);
    queues.register('unreadable', COUNT_UNREADABLE);
  }

  /** @param hints each at most once @returns the ids of their rows, old or new, in no order */
  async insert(
    tx: Tx,
    acquirer: string,
    hints: readonly (NewHint & { readonly nextAttemptAt: Date })[],
    receivedAt: Date,
  ): Promise<string[]> {
    const rows = hints.map(({ id, kind, reference, txid, shown, nextAttemptAt }) => [
      ...[id, acquirer, kind, reference],
      ...[receivedAt, nextAttemptAt, txid ?? null, noteOf(shown)],
    ]);
    return (await queryRows<{ id: string }>(tx, STORE, rows)).map(({ id }) => id);
  }

  /**
   * Stores a callback's reports, due at once.
   * @param hints each at most once
   * @param most how many may wait
   * @returns how many are stored
   */
  async insertUnconfirmed(
    tx: Tx,
    acquirer: string,
    hints: readonly NewHint[],
    now: Date,
    most: { readonly waiting: number; readonly ofLastMinute: number },
  ): Promise<number> {
    tx.defer(BY_INDEX, []);
    const stored = await tx.query(STORE_UNCONFIRMED, [
      acquirer,
      ...valuesOfFields(hints, 'id', 'kind', 'reference'),
      ...[now, most.waiting, most.ofLastMinute],
      hints.map(({ txid }) => txid ?? null),
    ]);
    return stored.length;
  }

  async findPending(id: string): Promise<Notification | null> {
    const found = await this.reader.one<FoundRow>(FIND_PENDING, [id]);
    return found && notificationOf(found);
  }

  /** Marks a dispute as being queried. @returns null when it is no longer pending */
  async begin(tx: Tx, notification: Notification, leasedUntil: Date): Promise<Notification | null> {
    const [row] = await tx.query<{ hints: number }>(BEGIN, [notification.id, leasedUntil]);
    return row ? { ...notification, hints: row.hints } : null;
  }

  /** Whether the notification was neither reported nor queried again since it was read. */
  async isLatest(tx: Tx, { id, hints }: Notification): Promise<boolean> {
    return (await tx.query(IS_LATEST, [id, hints])).length > 0;
  }

  prolong(tx: Tx, { id, hints }: Notification, leasedUntil: Date): void {
    tx.defer(PROLONG, [id, leasedUntil, hints]);
  }

  /** Finds lines that have due hints. */
  async due(tx: Tx, now: Date): Promise<DueLines> {
    tx.defer(BY_INDEX, []);
    const from = this.#due.next(now.getTime());
    return { lines: await tx.query<Line & Record<string, unknown>>(DUE_LINES, [now, new Date(from)]), now, from };
  }

  /** When the oldest due hint became due; null: none is due. */
  async oldestDue(now: Date): Promise<Date | null> {
    return (await this.reader.first<{ dueAt: Date | null }>(OLDEST_DUE, [now]))?.dueAt ?? null;
  }

  /** Claims the oldest due hints of each line. @param except ids that are skipped */
  async claim(
    tx: Tx,
    { lines, now, from }: DueLines,
    asks: readonly Ask[],
    except: readonly string[],
    leases: { readonly disputes: Date; readonly others: Date },
  ): Promise<Claimed> {
    let notifications: Notification[] = [];
    if (asks.length > 0) {
      tx.defer(LEASE_MAY_BE_LOST, []);
      const wanted = valuesOfFields(asks, 'acquirer', 'isUnconfirmed', 'room');
      const { others, disputes } = leases;
      const values = [now, new Date(from), ...wanted, except, others, disputes];
      notifications = (await tx.query<FoundRow>(CLAIM, values)).map(notificationOf);
    }
    const taken = (ask: Ask): number =>
      notifications.filter(
        ({ acquirer, isUnconfirmed }) => acquirer === ask.acquirer && isUnconfirmed === ask.isUnconfirmed,
      ).length;
    const isMore = asks.length < lines.length || asks.some((ask) => taken(ask) === ask.room);
    tx.afterCommit(() => this.#due.taken(from, null, isMore ? null : now.getTime()));
    return { notifications, isMore };
  }

  close(tx: Tx, notification: Notification, status: 'applied' | 'ignored', at: Date, error: string | null): void {
    writeRow(tx, CLOSE, { notification, status, at, error });
  }

  /**
   * Puts off all unconfirmed reports of an acquirer that are due by `dueBy`.
   * @param apartSeconds each is due again at a random time within this span after `earliest`
   * @returns how many of each kind
   */
  async putOffUnconfirmed(
    tx: Tx,
    acquirer: string,
    dueBy: Date,
    earliest: Date,
    apartSeconds: number,
  ): Promise<{ kind: string; count: number }[]> {
    tx.defer(BY_INDEX, []);
    return tx.query(PUT_OFF_UNCONFIRMED, [acquirer, dueBy, earliest, apartSeconds]);
  }

  /** @param unreadable true or false sets whether the acquirer has the object but cannot be read; null keeps it */
  retry(
    tx: Tx,
    { id, hints, attempts }: Notification,
    nextAttemptAt: Date,
    error: string,
    unreadable: boolean | null,
    now: Date,
  ): void {
    tx.defer(RETRY, [id, nextAttemptAt, error, hints, unreadable, now, attempts + 1]);
  }

  markUnreadable(tx: Tx, id: string, now: Date): void {
    tx.defer(MARK_UNREADABLE, [id, now]);
  }

  /** Makes the dispute wait for its payment. */
  await(tx: Tx, { id, hints }: Notification, dispute: Dispute): void {
    const { paymentReference, txid, type, amount, status, openedAt, responseDeadline: deadline } = dispute;
    tx.defer(AWAIT, [
      id,
      paymentReference ?? txid,
      JSON.stringify({ type, amount, status, openedAt, deadline }),
      hints,
    ]);
  }

  /** Makes disputes due that wait for a payment under one of these names. */
  wake(tx: Tx, acquirer: string, names: readonly string[], now: Date): void {
    writeRows(
      tx,
      WAKE,
      names.map((name) => ({ acquirer, name, now })),
    );
  }

  /** Disputes that wait for their payment, newest first. */
  async waiting({ before, createdFrom, createdTo, limit }: IdCursorFilter): Promise<WaitingDispute[]> {
    const wanted = [before, ...idRange(createdFrom, createdTo), limit];
    const rows = await this.reader.query<WaitingRow>(WAITING, wanted);
    return rows.map(({ about: { openedAt, deadline, ...about }, ...row }) => ({
      ...{ ...row, ...about, openedAt: new Date(openedAt) },
      responseDeadline: deadline === null ? null : new Date(deadline),
    }));
  }

  /** Hints whose answers cannot be read, newest first. */
  async unreadable({ before, createdFrom, createdTo, limit }: IdCursorFilter): Promise<UnreadableNews[]> {
    const wanted = [before, ...idRange(createdFrom, createdTo), limit];
    return this.reader.query(UNREADABLE, wanted);
  }

  /** @returns null when there is no such hint */
  async stateOf(
    tx: Tx,
    acquirer: string,
    { kind, reference }: NotificationHint,
  ): Promise<Pick<AcquirerNotificationEntity, 'status' | 'receivedAt'> | null> {
    return tx.first(STATE, [acquirer, kind, reference]);
  }

  async isDisputeTold(tx: Tx, acquirer: string, txid: string, now: Date): Promise<boolean> {
    return (await tx.query(DISPUTE_TOLD, [acquirer, txid, now])).length > 0;
  }

  async isTold(acquirer: string, txid: string): Promise<boolean> {
    return (await this.reader.query(TOLD, [acquirer, txid])).length > 0;
  }

  /** Makes each reported Pix of a charge due by `by`. */
  hasten(tx: Tx, acquirer: string, txid: string, by: Date): void {
    tx.defer(HASTEN, [acquirer, txid, by]);
  }

  /** @returns the hints that were set aside, as `<kind> <reference>` */
  async setAside(tx: Tx, acquirer: string, hints: readonly NotificationHint[]): Promise<Set<string>> {
    if (hints.length === 0) return new Set();
    const wanted = [acquirer, hints.map(({ kind }) => kind), hints.map(({ reference }) => reference)];
    const rows = await tx.query<{ kind: string; reference: string }>(SET_ASIDE, wanted);
    return new Set(rows.map(({ kind, reference }) => `${kind} ${reference}`));
  }

  /**
   * Removes hints that were set aside, so that forged ones leave nothing behind.
   * @returns how many were removed, at most `limit`
   */
  @Retained('acquirer_notifications', IGNORED_KEPT_MS)
  async removeIgnored(tx: Tx, triedBefore: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE_IGNORED, [triedBefore, limit])).length;
  }
}

function noteOf(shown: ReceivedPix | null | undefined): string | null {
  if (!shown) return null;
  const { txid, amount, fee, settledAt } = shown;
  return JSON.stringify({ txid, amount, fee, settledAt } satisfies Omit<PixNote, 'settledAt'> & { settledAt: Date });
}

function notificationOf({ note, ...notification }: FoundRow): Notification {
  const endToEndId = notification.reference;
  const shown = note && { endToEndId, ...note, settledAt: new Date(note.settledAt), payerDocument: null };
  return { ...notification, shown };
}
