import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../clock.js';
import { type Config, CONFIG } from '../config/index.js';
import { Database } from '../database/index.js';
import { Logger } from '../log/index.js';
import { Poller } from '../queue/index.js';
import { EmailsRepository, type MailOutcome, type TakenMail } from './emails.repository.js';
import { MailRefusedError, mailFailure, MailTransport, SEND_LIMIT_MS } from './mail-transport.js';
import { MAIL_TASK } from './mailer.js';

const POLL_MS = 2_000;
/** Sent at the same time, each on a connection of its own. */
const BATCH = 5;
/** A worker that has written nothing by then is given up for dead. */
const LEASE_MS = 3 * SEND_LIMIT_MS;
/** Waits between attempts: 11 attempts in a good two days, as long as mail servers themselves go on trying. */
const WAITS_SECONDS = [30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400];
const MAX_ATTEMPTS = WAITS_SECONDS.length + 1;
const CLEAN_MS = 3_600_000;
const CLEAN_BATCH = 500;
/** After it was sent or given up: it carries addresses and texts. */
const KEPT_DAYS = 30;

/** Sends the mail that is due. The network is never touched inside a transaction. */
@Injectable()
export class MailWorker implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly emails: EmailsRepository,
    private readonly transport: MailTransport,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.runsWorkers) return;
    this.poller.every(MAIL_TASK, POLL_MS, () => this.run());
    this.poller.every('mail.clean', CLEAN_MS, () => this.clean());
  }

  /**
   * Safe in any number of workers. A crash between sending and recording sends again after the lease.
   * @returns whether there may be more to do at once
   */
  async run(): Promise<boolean> {
    const now = this.clock.now();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const mails = await this.database.transaction((tx) => this.emails.claim(tx, now, leasedUntil, BATCH));
    // Settled and not all: what one failure to record throws must not leave the others behind, unwatched.
    const results = await Promise.allSettled(mails.map((mail) => this.#send(mail)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    return mails.length === BATCH;
  }

  /** Removes mail past its time. @returns whether there may be more */
  async clean(): Promise<boolean> {
    const before = new Date(this.clock.now().getTime() - KEPT_DAYS * 86_400_000);
    return (await this.database.transaction((tx) => this.emails.remove(tx, before, CLEAN_BATCH))) === CLEAN_BATCH;
  }

  async #send(mail: TakenMail): Promise<void> {
    const outcome = await this.#outcomeOf(mail);
    await this.database.transaction(async (tx) => this.emails.finish(tx, mail, outcome, this.clock.now()));
  }

  async #outcomeOf(mail: TakenMail): Promise<MailOutcome> {
    try {
      // An interrupted last attempt is not repeated for ever: a mail that takes its worker down must end.
      if (mail.attempts > MAX_ATTEMPTS) throw new MailRefusedError('the last attempt was interrupted');
      await this.transport.send(mail);
      return { status: 'sent', nextAttemptAt: null, error: null };
    } catch (error) {
      const { permanent, summary, detail } = mailFailure(error);
      const wait = permanent ? undefined : WAITS_SECONDS[mail.attempts - 1];
      // Neither recipient nor content, and not what the server said: it quotes addresses.
      const fields = { emailId: mail.id, attempt: mail.attempts, reason: summary };
      if (wait === undefined) this.logger.error(fields, 'a mail could not be sent; given up');
      else this.logger.warn(fields, 'a mail could not be sent; it will be tried again');
      return wait === undefined
        ? { status: 'failed', nextAttemptAt: null, error: detail }
        : { status: 'pending', nextAttemptAt: new Date(this.clock.now().getTime() + wait * 1000), error: detail };
    }
  }
}
