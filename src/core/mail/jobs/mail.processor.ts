import { Process, Processor } from '@nestjs/bull';
import { Inject, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../clock.js';
import { type Config, CONFIG } from '../../config/index.js';
import { Database } from '../../database/index.js';
import { Logger } from '../../log/index.js';
import { Poller } from '../../queue/index.js';
import type { Work, WorkAnswer, Worker } from '../../work/index.js';
import { EmailsRepository, type PendingMail } from '../emails.repository.js';
import { type MailFailure, MailRefusedError, mailFailure, MailTransport, SEND_LIMIT_MS } from '../mail-transport.js';

/** Waits between attempts: 11 attempts in a good two days, as long as mail servers themselves go on trying. */
const WAITS_SECONDS = [30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400];
const MAX_ATTEMPTS = WAITS_SECONDS.length + 1;
const CLEAN_MS = 3_600_000;
const CLEAN_BATCH = 500;
/** After it was sent or given up: it carries addresses and texts. */
const KEPT_DAYS = 30;

/** Sends mail. A crash between sending and recording sends again after the lease. */
@Processor('mail')
export class MailProcessor implements Worker, OnApplicationBootstrap {
  readonly backoff = WAITS_SECONDS.map((seconds) => seconds * 1000);
  readonly leaseMs = 3 * SEND_LIMIT_MS;

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
    if (this.config.runsWorkers) this.poller.every('mail.clean', CLEAN_MS, () => this.clean());
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

  /** Removes mail past its time. @returns whether there may be more */
  async clean(): Promise<boolean> {
    const before = new Date(this.clock.now().getTime() - KEPT_DAYS * 86_400_000);
    return (await this.database.transaction((tx) => this.emails.remove(tx, before, CLEAN_BATCH))) === CLEAN_BATCH;
  }

  async #send(mail: PendingMail, attempt: number): Promise<MailFailure | null> {
    try {
      // An interrupted last attempt is not repeated for ever: a mail that takes its worker down must end.
      if (attempt > MAX_ATTEMPTS) throw new MailRefusedError('the last attempt was interrupted');
      await this.transport.send(mail);
      return null;
    } catch (error) {
      return mailFailure(error);
    }
  }
}
