import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, removeDue, write, type Tx } from '../database/index.js';
import { EmailEntity } from './email.entity.js';
import { Retained } from '../retention.js';

/** A mail as its sender writes it. */
export interface Mail extends Pick<EmailEntity, 'accountId' | 'to' | 'subject' | 'text' | 'html'> {
  /** A secret for the reader only, in place of SECRET in the bodies; sealed until it is sent. */
  readonly secret?: string;
  /** Whether the mail is about test mode. */
  readonly isTest?: boolean;
}

/** Placeholder for a mail's secret in its bodies: a control character, which no account's name may contain. */
export const SECRET = '\u0002';

const PENDING = ['id', 'to', 'subject', 'text', 'html', 'secretSealed', 'isTest', 'createdAt'] as const;

/** A mail that is not sent yet. */
export type PendingMail = Pick<EmailEntity, (typeof PENDING)[number]>;

const INSERT = insertInto('emails.insert', EmailEntity, { without: ['status', 'lastError', 'endedAt'] });
const FIND_PENDING = read(
  'emails.find_pending',
  `SELECT ${columnsOf(EmailEntity, 'm', { only: PENDING })} FROM emails m WHERE m.id = $1 AND m.status = 'pending'`,
);
/** A sent mail stays sent, even if another worker failed at it. */
const FINISH = write(
  'emails.finish',
  `UPDATE emails SET status = CASE WHEN $2::text IS NULL THEN 'sent' ELSE 'failed' END, last_error = $2, ended_at = $3,
     secret_sealed = NULL
   WHERE id = $1 AND status <> 'sent'`,
);
const REMOVE = removeDue('emails.remove', 'emails', { dueAt: 'ended_at', where: `status <> 'pending'` });

@Injectable()
export class EmailsRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, mail: Omit<EmailEntity, 'status' | 'lastError' | 'endedAt'>): void {
    tx.defer(INSERT, INSERT.valuesOf(mail));
  }

  async findPending(id: string): Promise<PendingMail | null> {
    return this.reader.first<PendingMail>(FIND_PENDING, [id]);
  }

  /** @param error the reason why it is given up; null when it was sent */
  finish(tx: Tx, id: string, error: string | null, now: Date): void {
    tx.defer(FINISH, [id, error, now]);
  }

  /**
   * Removes mail that was sent or given up before `before`: mails contain addresses and texts.
   * @returns how many, at most `limit`
   */
  @Retained('emails', 'mails')
  async remove(tx: Tx, endedBefore: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE, [endedBefore, limit])).length;
  }
}
