import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, statement, type Tx } from '../database/index.js';
import { EmailEntity } from './email.entity.js';

/** A mail as its sender writes it. */
export type Mail = Pick<EmailEntity, 'accountId' | 'to' | 'subject' | 'text' | 'html'>;

const TAKEN = ['id', 'to', 'subject', 'text', 'html', 'createdAt', 'attempts'] as const;

/** A mail in the hands of this worker. */
export type TakenMail = Pick<EmailEntity, (typeof TAKEN)[number]>;

export interface MailOutcome {
  readonly status: 'sent' | 'pending' | 'failed';
  /** Of a mail that is still pending. */
  readonly nextAttemptAt: Date | null;
  readonly error: string | null;
}

const INSERT = insertInto('emails.insert', EmailEntity, { without: ['status', 'attempts', 'lastError', 'sentAt'] });
/** The lease is the time of the next attempt: a worker that dies gives its mail back by doing nothing. */
const CLAIM = statement(
  'emails.claim',
  `UPDATE emails SET attempts = attempts + 1, next_attempt_at = $2 WHERE id IN (
     SELECT id FROM emails WHERE status = 'pending' AND next_attempt_at <= $1
     ORDER BY next_attempt_at LIMIT $3 FOR UPDATE SKIP LOCKED)
   RETURNING ${columnsOf(EmailEntity, 'emails', { only: TAKEN })}`,
);
/** A worker whose lease ran out no longer decides: the mail has another number of attempts by then. */
const FINISH = statement(
  'emails.finish',
  `UPDATE emails SET status = $3::text, next_attempt_at = coalesce($4::timestamptz, next_attempt_at), last_error = $5,
     sent_at = CASE $3::text WHEN 'sent' THEN $6::timestamptz END
   WHERE id = $1 AND status = 'pending' AND attempts = $2`,
);
/** What has ended keeps the lease of its last attempt, which ends a minute or two after it did. */
const REMOVE = statement(
  'emails.remove',
  `DELETE FROM emails WHERE id IN (
     SELECT id FROM emails WHERE status <> 'pending' AND next_attempt_at <= $1
     ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING 1`,
);

@Injectable()
export class EmailsRepository {
  insert(tx: Tx, id: string, mail: Mail, now: Date): void {
    tx.defer(INSERT, INSERT.valuesOf({ ...mail, id, nextAttemptAt: now, createdAt: now }));
  }

  /** Mails that are due, each with one attempt more and nobody else's until `leasedUntil`. */
  async claim(tx: Tx, now: Date, leasedUntil: Date, limit: number): Promise<TakenMail[]> {
    return tx.query(CLAIM, [now, leasedUntil, limit]);
  }

  /** Moves a mail on, if it is still the attempt of this worker. */
  finish(tx: Tx, mail: TakenMail, to: MailOutcome, now: Date): void {
    tx.defer(FINISH, [mail.id, mail.attempts, to.status, to.nextAttemptAt, to.error, now]);
  }

  /** Removes mail that was sent or given up by then. @returns how many there were, at most `limit` */
  async remove(tx: Tx, endedBefore: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE, [endedBefore, limit])).length;
  }
}
