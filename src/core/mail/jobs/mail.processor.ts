import { Process, Processor } from '@nestjs/bull';
import type { OnModuleInit } from '@nestjs/common';
import { Clock, DAY_MS } from '../../clock.js';
import { SecretBox } from '../../crypto/index.js';
import { Database } from '../../database/index.js';
import { Logger } from '../../log/index.js';
import { Retention } from '../../retention.js';
import type { Work, WorkAnswer, Worker } from '../../work/index.js';
import { EmailsRepository, type PendingMail, SECRET } from '../emails.repository.js';
import { type MailFailure, MailRefusedError, mailFailure, MailTransport, SEND_LIMIT_MS } from '../mail-transport.js';
import { secretContext } from '../mailer.js';

/** Waits between attempts: 11 attempts in a good two days, as long as mail servers themselves go on trying. */
const WAITS_SECONDS = [30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400];
const MAX_ATTEMPTS = WAITS_SECONDS.length + 1;
/** After it was sent or given up: it carries addresses and texts. */
const KEPT_MS = 30 * DAY_MS;

/** Sends mail. A crash between sending and recording sends again after the lease. */
@Processor('mail')
export class MailProcessor implements Worker, OnModuleInit {
  readonly backoff = WAITS_SECONDS.map((seconds) => seconds * 1000);
  readonly leaseMs = 3 * SEND_LIMIT_MS;

  constructor(
    private readonly database: Database,
    private readonly emails: EmailsRepository,
    private readonly transport: MailTransport,
    private readonly secrets: SecretBox,
    private readonly retention: Retention,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.retention.keep('emails', KEPT_MS, (tx, before, limit) => this.emails.remove(tx, before, limit));
  }

  /** So many at once, each on a connection of its own. */
  @Process({ concurrency: 5 })
  async run({ subjectId: id, attempt }: Work): Promise<WorkAnswer> {
    const mail = await this.emails.findPending(id);
    if (!mail) return 'done';
    const failure = await this.#send(mail, attempt);
    // Neither recipient nor content, and not what the server said: it quotes addresses.
    if (failure && !failure.permanent && attempt < MAX_ATTEMPTS) throw new Error(failure.summary);
    if (failure) this.logger.error({ emailId: id, attempt, reason: failure.summary }, 'a mail is given up');
    const error = failure?.detail ?? null;
    await this.database.transaction(async (tx) => this.emails.finish(tx, id, error, this.clock.now()));
    return 'done';
  }

  async #send(mail: PendingMail, attempt: number): Promise<MailFailure | null> {
    try {
      // An interrupted last attempt is not repeated for ever: a mail that takes its worker down must end.
      if (attempt > MAX_ATTEMPTS) throw new MailRefusedError('the last attempt was interrupted');
      await this.transport.send(this.#withSecret(mail));
      return null;
    } catch (error) {
      return mailFailure(error);
    }
  }

  #withSecret(mail: PendingMail): PendingMail {
    if (mail.secretSealed === null) return mail;
    const secret = this.secrets.open(mail.secretSealed, secretContext(mail.id));
    return { ...mail, text: mail.text.replaceAll(SECRET, secret), html: mail.html.replaceAll(SECRET, secret) };
  }
}
