import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { DomainEvent } from './event-catalog.js';

const INSERT = statement(
  'events.insert',
  `INSERT INTO events (id, account_id, mode, type, subject_id, data, occurred_at, next_attempt_at)
   SELECT *, $7::timestamptz, $7 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::jsonb[])`,
);

/** Marked done by the statement that claims them: a rollback makes them pending again, so no lease is needed. */
const CLAIM = statement(
  'events.claim',
  `UPDATE events SET status = 'done' WHERE id IN (
     SELECT id FROM events WHERE status = 'pending' AND next_attempt_at <= $1
     ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING id, account_id, mode, type, subject_id, data, occurred_at`,
);
const POSTPONE = statement(
  'events.postpone',
  `UPDATE events SET next_attempt_at = $2 WHERE id = $1 AND status = 'pending'`,
);
const LAG = statement(
  'events.lag',
  `SELECT count(*) AS pending, coalesce(extract(epoch FROM $1::timestamptz - min(occurred_at)), 0)::float8 AS seconds
   FROM (SELECT occurred_at FROM events WHERE status = 'pending' ORDER BY next_attempt_at LIMIT 10000) p`,
);

interface Row {
  id: string;
  account_id: string;
  mode: Mode;
  type: string;
  subject_id: string;
  data: object;
  occurred_at: Date;
}

@Injectable()
export class OutboxRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, events: readonly DomainEvent[], now: Date): void {
    tx.defer(INSERT, [
      events.map((event) => event.id),
      events.map((event) => event.accountId),
      events.map((event) => event.mode),
      events.map((event) => event.type),
      events.map((event) => event.subjectId),
      events.map((event) => JSON.stringify(event.data)),
      now,
    ]);
  }

  async claim(tx: Tx, now: Date, limit: number): Promise<DomainEvent[]> {
    const rows = await tx.query<Row>(CLAIM, [now, limit]);
    return rows.map((row) => ({
      id: row.id,
      accountId: row.account_id,
      mode: row.mode,
      type: row.type as DomainEvent['type'],
      subjectId: row.subject_id,
      data: row.data as DomainEvent['data'],
      occurredAt: row.occurred_at,
    }));
  }

  async postpone(tx: Tx, id: string, until: Date): Promise<void> {
    await tx.query(POSTPONE, [id, until]);
  }

  async lag(now: Date): Promise<{ pending: number; seconds: number }> {
    const [row] = await this.reader.query<{ pending: number; seconds: number }>(LAG, [now]);
    return row ?? { pending: 0, seconds: 0 };
  }
}
