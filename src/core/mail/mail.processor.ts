import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { type Config, CONFIG } from '../config/index.js';
import { SecretBox } from '../crypto/index.js';
import { Database } from '../database/index.js';
import { RateLimiter } from '../rate-limit/index.js';
import type { Work, WorkAnswer, Worker } from '../work/index.js';
import { escapeHtml } from '../http/index.js';
import { EmailsRepository, type PendingMail, SECRET } from './emails.repository.js';
import { MAIL_WORK, MailDelivery } from './mail-delivery.js';
import { mailboxOf } from './mailbox.js';
import { secretContext } from './mailer.js';

/** Test mode costs nothing, so its mails to one mailbox are limited. */
const TEST_MAILS = { limit: 30, windowSeconds: 3600 };

/** Sends mail. A crash between sending and recording sends again after the lease. */
@Injectable()
export class MailProcessor implements Worker {
  readonly kind = 'mail';
  readonly concurrency = 5;
  readonly backoff = MAIL_WORK.backoff;
  readonly leaseMs = MAIL_WORK.leaseMs;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly limiter: RateLimiter,
    private readonly database: Database,
    private readonly emails: EmailsRepository,
    private readonly delivery: MailDelivery,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
  ) {}

  /** Sends five mails at a time, each on a connection of its own. */
  async run({ subjectId: id, attempt }: Work): Promise<WorkAnswer> {
    const mail = await this.emails.findPending(id);
    if (!mail) return 'done';
    const error = (await this.#mayGo(mail))
      ? await this.delivery.send(id, () => this.#withSecret(mail), attempt)
      : `more than ${TEST_MAILS.limit} mails an hour about test mode to this mailbox`;
    await this.database.transaction(async (tx) => this.emails.finish(tx, id, error, this.clock.now()));
    return 'done';
  }

  async #mayGo({ id, to, isTest }: PendingMail): Promise<boolean> {
    if (!isTest || !this.config.rateLimit.enabled) return true;
    return (await this.limiter.takeInWindow(`test-mail:${mailboxOf(to)}`, id, TEST_MAILS)).allowed;
  }

  #withSecret(mail: PendingMail): PendingMail {
    if (mail.secretSealed === null) return mail;
    const secret = this.secrets.open(mail.secretSealed, secretContext(mail.id));
    // A mail that waits since before an upgrade has the place of that time.
    const place = mail.text.includes(SECRET) ? SECRET : '{secret}';
    return {
      ...mail,
      text: mail.text.replaceAll(place, () => secret),
      html: mail.html.replaceAll(place, () => escapeHtml(secret)),
    };
  }
}
