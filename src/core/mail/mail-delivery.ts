import { Injectable } from '@nestjs/common';
import { Logger } from '../log/index.js';
import {
  type MailFailure,
  MailRefusedError,
  mailFailure,
  MailTransport,
  type ReadyMail,
  SEND_LIMIT_MS,
} from './mail-transport.js';

/** Waits between attempts: 11 attempts in a good two days, as long as mail servers themselves go on trying. */
const WAITS_SECONDS = [30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400];
const MAX_ATTEMPTS = WAITS_SECONDS.length + 1;

/** Pauses and lease of every kind of work that sends a mail. */
export const MAIL_WORK = { backoff: WAITS_SECONDS.map((seconds) => seconds * 1000), leaseMs: 3 * SEND_LIMIT_MS };

/** Hands mail to the transport and says whether it is worth another attempt. */
@Injectable()
export class MailDelivery {
  constructor(
    private readonly transport: MailTransport,
    private readonly logger: Logger,
  ) {}

  /**
   * @param ready gives the mail; when it cannot, that attempt has failed
   * @param attempt from 1 on
   * @returns null when it was sent; else why it is given up, with what the server said
   * @throws Error when it is to be tried again
   */
  async send(id: string, ready: () => ReadyMail, attempt: number): Promise<string | null> {
    const failure = await this.#try(ready, attempt);
    // Neither recipient nor content, and not what the server said: it quotes addresses.
    if (failure && !failure.permanent && attempt < MAX_ATTEMPTS) throw new Error(failure.summary);
    if (failure) this.logger.error({ emailId: id, attempt, reason: failure.summary }, 'a mail is given up');
    return failure?.detail ?? null;
  }

  async #try(ready: () => ReadyMail, attempt: number): Promise<MailFailure | null> {
    try {
      // An interrupted last attempt is not repeated for ever: a mail that takes its worker down must end.
      if (attempt > MAX_ATTEMPTS) throw new MailRefusedError('the last attempt was interrupted');
      await this.transport.send(ready());
      return null;
    } catch (error) {
      return mailFailure(error);
    }
  }
}
