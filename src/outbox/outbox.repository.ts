import { Injectable } from '@nestjs/common';
import { SecretBox } from '../core/crypto/index.js';
import {
  claimDue,
  columnsOf,
  read,
  Reader,
  type ReadStatement,
  rowWrite,
  type Tx,
  valuesOfFields,
  wanted,
  write,
  writeRows,
} from '../core/database/index.js';
import { FIRST_ID, idBound } from '../core/ids.js';
import { Logger } from '../core/log/index.js';
import type { Scope } from '../core/mode.js';
import { DUE_TIMES, LowWaterMark } from '../core/queue/index.js';
import { Retained } from '../core/retention.js';
import type { DomainEvent } from './event-catalog.service.js';
import { joinPersonal, keptEvents, splitPersonal } from './event-rules.js';
import { type DomainEventType, EventEntity } from './event.entity.js';
import { RESENT } from './resends.js';

interface StoredEvent extends Omit<DomainEvent, 'sequence' | 'data'> {
  /** JSON. */
  readonly data: string;
  readonly sealed: string | null;
  readonly at: Date;
}

const TYPES = ['uuid', 'uuid', 'text', 'text', 'uuid', 'jsonb', 'text', 'timestamptz'];
/**
 * Numbers the events of each subject on from its last one. The caller must hold the subject's lock or have just made
 * it, so that earlier events are committed and visible. Otherwise the unique index on (subject_id, sequence) refuses
 * the insert.
 *
 * A transaction may have got its number before the writer of the last event got its own. In that case the events take
 * the higher number (docs/design/events-and-deliveries.md#read-on-from-a-place).
 */
const insert = (wantedRows: string): string =>
  `INSERT INTO events (id, account_id, mode, type, subject_id, data, customer_sealed, sequence, xid, occurred_at,
     next_attempt_at)
   SELECT w.p1, w.p2, w.p3, w.p4, w.p5, w.p6, w.p7,
     row_number() OVER (PARTITION BY w.p5 ORDER BY w.n) + coalesce(l.sequence, 0), greatest(current_xid(), l.xid),
     w.p8, w.p8
   FROM ${wantedRows} LEFT JOIN LATERAL (
     SELECT sequence, xid FROM events WHERE subject_id = w.p5 ORDER BY sequence DESC LIMIT 1) l ON true`;
const ONE = `(SELECT ${TYPES.map((type, index) => `$${index + 1}::${type} AS p${index + 1}`).join(', ')}, 1 AS n) w`;
const INSERT = rowWrite<StoredEvent>(
  write('events.insert_one', insert(ONE)),
  write('events.insert_many', insert(wanted(TYPES))),
  (e) => [e.id, e.accountId, e.mode, e.type, e.subjectId, e.data, e.sealed, e.at],
);

const COLUMNS = columnsOf(EventEntity, 'events', { without: ['xid', 'status', 'nextAttemptAt'] });
/** Claiming marks events as done: a rollback makes them pending again, so no lease is needed. */
const CLAIM = claimDue('events.claim', 'events', {
  dueAt: 'next_attempt_at',
  where: `status = 'pending' AND next_attempt_at >= $3 AND type = ANY ($4)`,
  set: `status = 'done'`,
  returning: `${COLUMNS}, next_attempt_at AS "dueAt"`,
});
/** Reads a subject's handful of events by the unique index on (subject_id, sequence). */
const HISTORY = read(
  'events.history',
  `SELECT l.* FROM unnest($3::uuid[]) AS s (id) CROSS JOIN LATERAL (
     SELECT ${COLUMNS} FROM events
     WHERE subject_id = s.id AND account_id = $1 AND mode = $2 AND type = ANY ($4::text[])
     ORDER BY sequence DESC LIMIT $5) l`,
);
/**
 * Place of an event among all events of an account and mode: by the database transaction that wrote it, then by its id.
 * Ids alone would fail a reader that continues from the last id it saw, since they are made before they commit.
 */
export interface EventPosition {
  readonly xid: number;
  readonly id: string;
}

/** Part of an event that decides whether it is wanted. */
export interface EventTrace extends EventPosition, Pick<DomainEvent, 'type' | 'occurredAt'> {}

/**
 * Condition for events that no later commit can precede. Transactions that begin to write later get a higher number.
 * While any transaction of the cluster is open, events written after its beginning are held back.
 */
const ENDED = 'xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint';
const TRACE = `SELECT id, xid, type, occurred_at AS "occurredAt" FROM events WHERE account_id = $1 AND mode = $2 AND ${ENDED}`;
const OF_SUBJECT = 'AND subject_id = $6';
const TRACES = {
  older: traces('events.older', '<=', 'DESC'),
  newer: traces('events.newer', '>=', 'ASC'),
};
const BY_IDS = read(
  'events.by_ids',
  `SELECT ${COLUMNS} FROM unnest($1::uuid[]) WITH ORDINALITY AS w (id, number) JOIN events USING (id) ORDER BY w.number`,
);
const NEWEST = read(
  'events.newest',
  `SELECT s.account_id AS "accountId", s.mode, e.xid, e.id
   FROM unnest($1::uuid[], $2::text[]) AS s (account_id, mode) CROSS JOIN LATERAL (
     SELECT xid, id FROM events WHERE account_id = s.account_id AND mode = s.mode AND ${ENDED}
     ORDER BY xid DESC, id DESC LIMIT 1) e`,
);
const LAST_XID = read('events.last_xid', 'SELECT xid FROM events ORDER BY id DESC LIMIT 1');
const XIDS = read('events.xids', 'SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS xid');
const ENDED_XID = read('events.ended_xid', 'SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xid');
const SUBJECTS = read(
  'events.subjects',
  `SELECT subject_id AS "subjectId" FROM events
   WHERE account_id = $1 AND mode = $2 AND type = $3 AND xid >= $4 AND xid < $5 ORDER BY xid, id LIMIT $6`,
);
const FORGET_XIDS = write('events.forget_xids', 'UPDATE events SET xid = 0 WHERE xid > 0', true);
const POSTPONE = write(
  'events.postpone',
  `UPDATE events SET status = 'pending', next_attempt_at = $2 WHERE id = ANY ($1) AND status = $3`,
);
/**
 * Keeps the last event of each subject, from which the next one is numbered, and the events of `$4`, which may be
 * resent. A record of a resend (`$5`) is the only event of its subject, and goes. The walk continues behind `$1`, since kept events would be read again and again.
 */
const REMOVE = write(
  'events.remove',
  `WITH looked AS (SELECT id, subject_id, sequence, status, type FROM events WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3),
   removed AS (
     DELETE FROM events e USING looked l WHERE e.id = l.id AND l.status = 'done' AND l.type <> ALL ($4::text[]) AND (l.type = $5 OR EXISTS (
       SELECT 1 FROM events n WHERE n.subject_id = l.subject_id AND n.sequence > l.sequence)))
   SELECT id FROM looked ORDER BY id`,
);
const LAG = read(
  'events.lag',
  `SELECT count(*) AS pending, coalesce(extract(epoch FROM $1::timestamptz - min(occurred_at)), 0)::float8 AS seconds
   FROM (SELECT occurred_at FROM events WHERE status = 'pending' ORDER BY next_attempt_at LIMIT 10000) p`,
);

/** An event whose personal fields are still sealed. */
export type EventRow = DomainEvent & Pick<EventEntity, 'personalSealed'>;

function traces(name: string, comparison: string, order: string): { all: ReadStatement; ofSubject: ReadStatement } {
  const from = `AND (xid, id) ${comparison} ($3, $4)`;
  const sorted = `ORDER BY xid ${order}, id ${order} LIMIT $5`;
  return {
    all: read(name, `${TRACE} ${from} ${sorted}`),
    ofSubject: read(`${name}_of_subject`, `${TRACE} ${from} ${OF_SUBJECT} ${sorted}`),
  };
}

/** Binds the sealed part of an event to its row. */
function contextOf(id: string): string {
  return `event:${id}`;
}

@Injectable()
export class OutboxRepository {
  /** Last id of old events looked at since the start of this process. */
  #lookedTo = FIRST_ID;
  /** Due time up to which pending events were claimed. */
  readonly #due = new LowWaterMark(DUE_TIMES);

  constructor(
    private readonly reader: Reader,
    private readonly secrets: SecretBox,
    private readonly logger: Logger,
  ) {}

  /** Call this only while holding the lock of every subject, or having made it in `tx`. */
  insert(tx: Tx, events: readonly Omit<DomainEvent, 'sequence'>[], now: Date): void {
    const stored = events.map((event) => {
      const { data, personal } = splitPersonal(event.data);
      const sealed = personal && this.secrets.sealText(JSON.stringify(personal), contextOf(event.id));
      return { ...event, data: JSON.stringify(data), sealed, at: now };
    });
    writeRows(tx, INSERT, stored);
  }

  /** @param types known to this version: the others are left to the version that writes them */
  async claim(tx: Tx, now: Date, limit: number, types: readonly string[]): Promise<EventRow[]> {
    const from = this.#due.next(now.getTime());
    const rows = await tx.query<EventRow & { dueAt: Date }>(CLAIM, [now, limit, new Date(from), types]);
    const dueAt = rows.map((row) => row.dueAt.getTime());
    tx.afterCommit(() => this.#due.claimed(from, dueAt, rows.length < limit ? now.getTime() : null));
    return rows.map(({ dueAt: _, ...row }) => row);
  }

  /** Returns the last events of each subject among those of `types`, at most `limit` for each. */
  async history(
    tx: Tx,
    scope: Scope,
    subjectIds: readonly string[],
    types: readonly string[],
    limit: number,
  ): Promise<DomainEvent[]> {
    const rows = await tx.query<EventRow>(HISTORY, [scope.accountId, scope.mode, subjectIds, types, limit]);
    return this.#readable(rows);
  }

  /**
   * @param from the first event to look at, if it still exists
   * @returns in the order of their positions, downwards for `older`, upwards for `newer`
   */
  async traces(
    scope: Scope,
    direction: keyof typeof TRACES,
    from: EventPosition,
    limit: number,
    subjectId: string | null,
  ): Promise<EventTrace[]> {
    const { all, ofSubject } = TRACES[direction];
    const values = [scope.accountId, scope.mode, from.xid, from.id, limit];
    return subjectId === null
      ? this.reader.query<EventTrace>(all, values)
      : this.reader.query<EventTrace>(ofSubject, [...values, subjectId]);
  }

  /** Returns events in the order of `ids`, without those past their retention. */
  async byIds(ids: readonly string[]): Promise<DomainEvent[]> {
    return ids.length === 0 ? [] : this.#readable(await this.reader.query<EventRow>(BY_IDS, [ids]));
  }

  /** Returns the last position of each account and mode; nothing for a scope without events. */
  async newest(scopes: readonly Scope[]): Promise<(EventPosition & Scope)[]> {
    return this.reader.query<EventPosition & Scope>(NEWEST, valuesOfFields(scopes, 'accountId', 'mode'));
  }

  /** Returns the number of the oldest transaction that is not over: all events of lower numbers can be read. */
  async endedXid(tx: Tx): Promise<number> {
    const [row] = await tx.query<{ xid: number }>(ENDED_XID, []);
    return row?.xid ?? 0;
  }

  /**
   * Returns the subjects of events of one type, oldest event first.
   * @param from number of the first transaction @param to the first one that does not count, at most `endedXid`
   */
  async subjects(
    tx: Tx,
    { accountId, mode }: Scope,
    type: DomainEventType,
    { from, to }: { from: number; to: number },
    limit: number,
  ): Promise<string[]> {
    const rows = await tx.query<{ subjectId: string }>(SUBJECTS, [accountId, mode, type, from, to, limit]);
    return rows.map(({ subjectId }) => subjectId);
  }

  /** Returns whether this database cannot yet have given a number as high as that. */
  async isForeign(tx: Tx | null, { xid }: Pick<EventPosition, 'xid'>): Promise<boolean> {
    const [next] = await (tx ?? this.reader).query<{ xid: number }>(XIDS, []);
    return xid > (next?.xid ?? 0);
  }

  /**
   * Resets all positions if the database was restored from a dump, which counts transactions anew. All events are then
   * in the order of their ids.
   * @returns whether it was restored
   */
  async forgetForeignPositions(tx: Tx): Promise<boolean> {
    const [last] = await tx.query<{ xid: number }>(LAST_XID, []);
    if (!last || !(await this.isForeign(tx, last))) return false;
    await tx.query(FORGET_XIDS, []);
    return true;
  }

  /** @param status `done` for events that `tx` has claimed */
  async postpone(tx: Tx, ids: readonly string[], until: Date, status: 'pending' | 'done'): Promise<void> {
    await tx.query(POSTPONE, [ids, until, status]);
  }

  /** @returns how many events older than `before` were looked at; some of them stay */
  @Retained('events', 'events')
  async remove(tx: Tx, before: Date, limit: number): Promise<number> {
    const values = [this.#lookedTo, idBound(before, 'min'), limit, keptEvents(), RESENT];
    const looked = await tx.query<{ id: string }>(REMOVE, values);
    const last = looked.at(-1)?.id;
    if (last !== undefined) tx.afterCommit(() => void (this.#lookedTo = last));
    return looked.length;
  }

  async lag(now: Date): Promise<{ pending: number; seconds: number }> {
    const [row] = await this.reader.query<{ pending: number; seconds: number }>(LAG, [now]);
    return row ?? { pending: 0, seconds: 0 };
  }

  /** @throws Error if the key that sealed the personal fields is missing here */
  open({ personalSealed, ...event }: EventRow): DomainEvent {
    if (personalSealed === null) return event;
    const opened = this.secrets.openText(personalSealed, contextOf(event.id));
    return { ...event, data: joinPersonal(event.data, JSON.parse(opened) as Record<string, unknown>) };
  }

  /**
   * Opens events for readers. If an event cannot be opened, it is returned without its personal fields, so that the
   * others can still be read.
   */
  #readable(rows: readonly EventRow[]): DomainEvent[] {
    return rows.map((row) => {
      try {
        return this.open(row);
      } catch (error) {
        this.logger.error(
          { error, eventId: row.id },
          'an event is read without its personal fields, which cannot be opened',
        );
        const { personalSealed: _, ...event } = row;
        return { ...event, data: joinPersonal(event.data, null) };
      }
    });
  }
}
