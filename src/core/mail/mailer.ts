import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { SecretBox } from '../crypto/index.js';
import type { Tx } from '../database/index.js';
import { newId } from '../ids.js';
import { WorkService } from '../work/index.js';
import { EmailsRepository, type Mail } from './emails.repository.js';

/** Writes mail in the transaction of its cause; a worker sends it. */
@Injectable()
export class Mailer {
  constructor(
    private readonly emails: EmailsRepository,
    private readonly secrets: SecretBox,
    private readonly work: WorkService,
    private readonly clock: Clock,
  ) {}

  /**
   * Enqueues a mail, which is sent if and only if `tx` commits: at least once, always with the same Message-ID. Never
   * fails its caller; an impossible address is found out when sending.
   */
  enqueue(tx: Tx, mail: Mail): void {
    const now = this.clock.now();
    const id = newId(now);
    const { secret, ...rest } = mail;
    const secretSealed = secret === undefined ? null : this.secrets.seal(secret, secretContext(id));
    this.emails.insert(tx, { ...rest, isTest: mail.isTest ?? false, id, secretSealed, createdAt: now });
    this.work.add(tx, 'mail', id, now);
  }
}

/** Binds a sealed secret to its mail. */
export function secretContext(mailId: string): string {
  return `mail:${mailId}`;
}
