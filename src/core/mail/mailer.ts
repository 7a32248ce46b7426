import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import type { Tx } from '../database/index.js';
import { newId } from '../ids.js';
import { Poller } from '../queue/index.js';
import { EmailsRepository, type Mail } from './emails.repository.js';

/** The poller's task that sends what is due. */
export const MAIL_TASK = 'mail.send';

/** Writes mail in the transaction of what it tells of; a worker sends it. */
@Injectable()
export class Mailer {
  // In an API process it wakes nobody: a worker's polling brings the mail within seconds.
  readonly #wake = (): void => this.poller.wake(MAIL_TASK);

  constructor(
    private readonly emails: EmailsRepository,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  /**
   * The mail is sent if and only if `tx` commits: at least once, always with the same Message-ID. It never fails its
   * caller; an address that nobody can have is found out when sending.
   */
  enqueue(tx: Tx, mail: Mail): void {
    const now = this.clock.now();
    this.emails.insert(tx, newId(now), mail, now);
    tx.afterCommit(this.#wake);
  }
}
