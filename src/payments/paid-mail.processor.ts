import { Inject, Injectable } from '@nestjs/common';
import { NoticesService, PAID_MAILS_MS } from '../accounts/index.js';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database } from '../core/database/index.js';
import { Mailer } from '../core/mail/index.js';
import { doubling, type Work, type WorkAnswer, type Worker } from '../core/work/index.js';
import { OutboxRepository } from '../outbox/index.js';
import { TransactionsService } from '../transactions/index.js';
import { paidMail } from './paid-mail.js';

/** Sales that one mail counts. */
const MAX_COUNTED = 500;

/**
 * Mails the sales that were paid since the last run, to the person who is the subject. A mail and the end of its sales
 * are written in one commit. Therefore a repeated run mails no sale twice and misses none.
 */
@Injectable()
export class PaidMailProcessor implements Worker {
  readonly kind = 'paid_mail';
  readonly concurrency = 4;
  readonly backoff = doubling(5_000, PAID_MAILS_MS);
  readonly leaseMs = 60_000;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly notices: NoticesService,
    private readonly events: OutboxRepository,
    private readonly transactions: TransactionsService,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
  ) {}

  async run({ subjectId: userId }: Work): Promise<WorkAnswer> {
    return this.database.transaction(async (tx) => {
      const wanted = await this.notices.lockPaidMails(tx, userId);
      const to = await this.events.endedXid(tx);
      for (const { accountId, email, xid: from } of wanted) {
        for (const mode of ['live', 'test'] as const) {
          const scope = { accountId, mode };
          const ids = await this.events.subjects(tx, scope, 'transaction.paid', { from, to }, MAX_COUNTED + 1);
          const counted = ids.slice(0, MAX_COUNTED);
          const found = new Map((await this.transactions.getAll(tx, counted)).map((sale) => [sale.id, sale]));
          const sales = counted.flatMap((id) => found.get(id) ?? []);
          if (sales.length === 0) continue;
          const mail = paidMail(sales, ids.length > MAX_COUNTED, mode, this.config.publicBaseUrl);
          this.mailer.enqueue(tx, { accountId, to: email, ...mail });
        }
        // If the database was restored from a dump, its numbers begin anew.
        const isRestored = await this.events.isForeign(tx, { xid: from });
        if (to > from || isRestored) this.notices.setPaidMails(tx, accountId, userId, to);
      }
      return wanted.length === 0 ? 'done' : new Date(this.clock.now().getTime() + PAID_MAILS_MS);
    });
  }
}
