import { Inject, Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/index.js';
import { Clock, DAY_MS } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { MAIL_WORK, mailboxOf, MailDelivery } from '../core/mail/index.js';
import { RateLimiter } from '../core/rate-limit/index.js';
import type { Work, WorkAnswer, Worker } from '../core/work/index.js';
import { TEST_RECEIPTS, type Transaction, TransactionsService } from '../transactions/index.js';
import { receiptMail } from './receipt-mail.js';

/** Merchants choose where receipts go, so each mailbox gets a limited number. */
const PER_ADDRESS = { limit: 10, windowSeconds: 3600 };
/** Receipts an hour of an account in live mode; those above it wait. */
const LIVE_RECEIPTS = { rate: 2000 / 3600, burst: 2000 };
/** A receipt that waits for longer, because the address has had so many, is not sent any more. */
const LATEST_MS = DAY_MS;

/**
 * Sends the payer's receipt of a sale, whose id is the subject. The mail is made when it is sent, so that the address
 * stands in the transaction alone. A run that is repeated after a crash sends it with the same Message-ID.
 */
@Injectable()
export class ReceiptProcessor implements Worker {
  readonly kind = 'receipt';
  readonly concurrency = 3;
  readonly backoff = MAIL_WORK.backoff;
  readonly leaseMs = MAIL_WORK.leaseMs;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly transactions: TransactionsService,
    private readonly accounts: AccountsService,
    private readonly delivery: MailDelivery,
    private readonly limiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  async run({ subjectId: id, attempt }: Work): Promise<WorkAnswer> {
    const transaction = await this.transactions.getPublic(id);
    const { customerEmail: to, paidAt } = transaction;
    if (to === null || paidAt === null) return 'done';
    const waitSeconds = await this.#waitOf(transaction, to);
    if (waitSeconds > 0) {
      const dueAt = this.clock.now().getTime() + waitSeconds * 1000;
      return dueAt - paidAt.getTime() > LATEST_MS ? 'done' : new Date(dueAt);
    }
    const account = await this.accounts.get(transaction.accountId);
    const mail = receiptMail({ ...transaction, paidAt }, account, this.config.publicBaseUrl);
    await this.delivery.send(id, () => ({ ...mail, id, to, createdAt: paidAt }), attempt);
    return 'done';
  }

  /** @returns seconds until the receipt may go; 0: now, Infinity: never */
  async #waitOf({ id, accountId, mode }: Transaction, to: string): Promise<number> {
    if (mode === 'test') {
      // Counted by sale, so that another attempt at its mail is not another receipt.
      const { allowed } = await this.limiter.takeInWindow(`receipts:${accountId}`, id, TEST_RECEIPTS);
      if (!allowed) return Infinity;
    } else {
      const budget = await this.limiter.take(`receipts:${accountId}:live`, LIVE_RECEIPTS);
      if (!budget.allowed) return budget.retryAfterSeconds;
    }
    // Sales that cost nothing do not hold up the receipts of others.
    const mailbox = await this.limiter.takeInWindow(`receipt:${mode}:${mailboxOf(to)}`, id, PER_ADDRESS);
    return mailbox.allowed ? 0 : mailbox.retryAfterSeconds;
  }
}
