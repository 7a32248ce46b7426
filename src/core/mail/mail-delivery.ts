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

/** Waits between attempts: 11 attempts in a good two days, like mail servers themselves. */
const WAITS_SECONDS = [30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400];
const MAX_ATTEMPTS = WAITS_SECONDS.length + 1;

/** Pauses and lease of every kind of work that sends a mail. */
export const MAIL_WORK = { backoff: WAITS_SECONDS.map((seconds) => seconds * 1000), leaseMs: 3 * SEND_LIMIT_MS };

/** Hands mail to the transport and decides whether another attempt is worth it. */
@Injectable()
export class MailDelivery {
  constructor(
    private readonly transport: MailTransport,
    private readonly logger: Logger,
  ) {}

  /**
   * @param ready makes the mail; if it throws, that attempt has failed
   * @param attempt from 1 on
   * @returns null when it was sent; else the reason for giving up, with the server's words
   * @throws Error when it should be tried again
   */
  async send(id: string, ready: () => ReadyMail, attempt: number): Promise<string | null> {
    const failure = await this.#try(ready, attempt);
    // Log neither recipient nor content, nor the server's words, which quote addresses.
    if (failure && !failure.permanent && attempt < MAX_ATTEMPTS) throw new Error(failure.summary);
    if (failure) this.logger.error({ emailId: id, attempt, reason: failure.summary }, 'a mail is given up');
    return failure?.detail ?? null;
  }

  async #try(ready: () => ReadyMail, attempt: number): Promise<MailFailure | null> {
    try {
      // If the last attempt was interrupted, do not repeat it: the mail may be what crashes its worker.
      if (attempt > MAX_ATTEMPTS) throw new MailRefusedError('the last attempt was interrupted');
      await this.transport.send(ready());
      return null;
    } catch (error) {
      return mailFailure(error);
    }
  }
}
