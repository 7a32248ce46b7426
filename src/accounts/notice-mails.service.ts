import { Injectable } from '@nestjs/common';
import type { Tx } from '../core/database/index.js';
import { type Mail, Mailer } from '../core/mail/index.js';
import { MembersService } from './members.service.js';
import type { MailNotice } from './notices.js';

/** Mails about an account's business. */
@Injectable()
export class NoticeMails {
  constructor(
    private readonly members: MembersService,
    private readonly mailer: Mailer,
  ) {}

  /** Writes to the receiver of the mail, and to every other person of the account who wants this notice. */
  async enqueue(tx: Tx, notice: MailNotice, mail: Mail): Promise<void> {
    const people = mail.accountId === null ? [] : await this.members.wanting(mail.accountId, notice, tx);
    for (const to of new Set([mail.to, ...people.map(({ email }) => email)])) this.mailer.enqueue(tx, { ...mail, to });
  }
}
