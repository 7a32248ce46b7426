import { Injectable } from '@nestjs/common';
import { statement, type Tx } from '../database/index.js';

/** A mail as its sender writes it. */
export interface Mail {
  /** Whom it concerns; null for what concerns no account, as a mail to an operator. */
  readonly accountId: string | null;
  /** One bare address, without a name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A mail in the hands of this worker. */
export interface TakenMail extends Omit<Mail, 'accountId'> {
  readonly id: string;
  readonly createdAt: Date;
  /** Including the one about to be made; also what proves later that the mail is still ours. */
  readonly attempts: number;
}

export interface MailOutcome {
  readonly status: 'sent' | 'pending' | 'failed';
  /** Of a mail that is still pending. */
  readonly nextAttemptAt: Date | null;
  readonly error: string | null;
}

const INSERT = statement(
  'emails.insert',
  `INSERT INTO emails (id, account_id, recipient, subject, text_body, html_body, next_attempt_at, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`,
);
/** The lease is the time of the next attempt: a worker that dies gives its mail back by doing nothing. */
const CLAIM = statement(
  'emails.claim',
  `UPDATE emails SET attempts = attempts + 1, next_attempt_at = $2 WHERE id IN (
     SELECT id FROM emails WHERE status = 'pending' AND next_attempt_at <= $1
     ORDER BY next_attempt_at LIMIT $3 FOR UPDATE SKIP LOCKED)
   RETURNING id, recipient, subject, text_body, html_body, created_at, attempts`,
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

interface Row {
  id: string;
  recipient: string;
  subject: string;
  text_body: string;
  html_body: string;
  created_at: Date;
  attempts: number;
}

@Injectable()
export class EmailsRepository {
  insert(tx: Tx, id: string, mail: Mail, now: Date): void {
    tx.defer(INSERT, [id, mail.accountId, mail.to, mail.subject, mail.text, mail.html, now]);
  }

  /** Mails that are due, each with one attempt more and nobody else's until `leasedUntil`. */
  async claim(tx: Tx, now: Date, leasedUntil: Date, limit: number): Promise<TakenMail[]> {
    const rows = await tx.query<Row>(CLAIM, [now, leasedUntil, limit]);
    return rows.map((row) => ({
      id: row.id,
      to: row.recipient,
      subject: row.subject,
      text: row.text_body,
      html: row.html_body,
      createdAt: row.created_at,
      attempts: row.attempts,
    }));
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
