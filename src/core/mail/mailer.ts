import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import type { Tx } from '../database/index.js';
import { newId } from '../ids.js';
import { WorkService } from '../work/index.js';
import { EmailsRepository, type Mail } from './emails.repository.js';

/** Writes mail in the transaction of what it tells of; a worker sends it. */
@Injectable()
export class Mailer {
  constructor(
    private readonly emails: EmailsRepository,
    private readonly work: WorkService,
    private readonly clock: Clock,
  ) {}

  /**
   * The mail is sent if and only if `tx` commits: at least once, always with the same Message-ID. It never fails its
   * caller; an address that nobody can have is found out when sending.
   */
  enqueue(tx: Tx, mail: Mail): void {
    const now = this.clock.now();
    const id = newId(now);
    this.emails.insert(tx, id, mail, now);
    this.work.add(tx, 'mail', id, now);
  }
}
