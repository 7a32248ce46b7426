import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../database/index.js';

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

/** A mail that is not sent yet. */
export interface PendingMail extends Omit<Mail, 'accountId'> {
  readonly id: string;
  readonly createdAt: Date;
}

const INSERT = statement(
  'emails.insert',
  `INSERT INTO emails (id, account_id, recipient, subject, text_body, html_body, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);
const FIND_PENDING = statement(
  'emails.find_pending',
  `SELECT id, recipient, subject, text_body, html_body, created_at FROM emails WHERE id = $1 AND status = 'pending'`,
);
/** What one worker has sent stays so, also where another one has failed at it. */
const FINISH = statement(
  'emails.finish',
  `UPDATE emails SET status = CASE WHEN $2::text IS NULL THEN 'sent' ELSE 'failed' END, last_error = $2, ended_at = $3
   WHERE id = $1 AND status <> 'sent'`,
);
const REMOVE = statement(
  'emails.remove',
  `DELETE FROM emails WHERE id IN (
     SELECT id FROM emails WHERE status <> 'pending' AND ended_at <= $1
     ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING 1`,
);

interface Row {
  id: string;
  recipient: string;
  subject: string;
  text_body: string;
  html_body: string;
  created_at: Date;
}

@Injectable()
export class EmailsRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, id: string, mail: Mail, now: Date): void {
    tx.defer(INSERT, [id, mail.accountId, mail.to, mail.subject, mail.text, mail.html, now]);
  }

  async findPending(id: string): Promise<PendingMail | null> {
    const [row] = await this.reader.query<Row>(FIND_PENDING, [id]);
    if (!row) return null;
    const { recipient: to, subject, text_body: text, html_body: html, created_at: createdAt } = row;
    return { id, to, subject, text, html, createdAt };
  }

  /** @param error why it is given up; null when it was sent */
  finish(tx: Tx, id: string, error: string | null, now: Date): void {
    tx.defer(FINISH, [id, error, now]);
  }

  /** Removes mail that was sent or given up by then. @returns how many there were, at most `limit` */
  async remove(tx: Tx, endedBefore: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE, [endedBefore, limit])).length;
  }
}
