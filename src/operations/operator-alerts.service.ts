import { Inject, Injectable } from '@nestjs/common';
import { UsersService } from '../accounts/index.js';
import { Clock, DAY_MS } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { bilingualMail, type Mail, Mailer } from '../core/mail/index.js';
import { ageOf, type OperatorQueue, type OperatorQueueName } from '../core/operator-queues.js';
import { OperatorAlertsRepository } from './operator-alerts.repository.js';

const TITLES: Readonly<Record<OperatorQueueName, readonly [portuguese: string, english: string]>> = {
  reviews: ['Pagamentos retidos', 'Held payments'],
  med: ['Disputas a decidir', 'Disputes to decide'],
  med_waiting: ['Disputas sem venda', 'Disputes without a sale'],
  unmatched: ['Pix sem cobrança', 'Unmatched Pix'],
  corrections: ['Correções', 'Corrections'],
  negative_balances: ['Saldos negativos', 'Negative balances'],
  payouts: ['Saques sem desfecho', 'Payouts without an outcome'],
  unreadable: ['O que não se pôde ler', 'What could not be read'],
  work: ['Trabalho atrasado', 'Overdue work'],
};

/** Mails operators about queues that have waited too long. */
@Injectable()
export class OperatorAlerts {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly alerts: OperatorAlertsRepository,
    private readonly users: UsersService,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Sends each operator one mail about all waiting queues; each queue is mailed once a day. */
  async send(late: readonly OperatorQueue[]): Promise<void> {
    const names = late.filter(({ waiting }) => waiting > 0).map(({ name }) => name);
    if (names.length === 0) return;
    const operators = await this.users.operatorEmails();
    const now = this.clock.now();
    const claimed = await this.database.transaction(async (tx) => {
      const taken = await this.alerts.claim(tx, names, now, new Date(now.getTime() - DAY_MS));
      const told = late.filter(({ name }) => taken.has(name));
      if (told.length > 0) for (const to of operators) this.mailer.enqueue(tx, this.#mail(to, told, now));
      return told;
    });
    for (const { name, waiting, since } of claimed) {
      this.logger.warn({ queue: name, waiting, since, operators: operators.length }, 'a queue waits for an operator');
    }
  }

  #mail(to: string, queues: readonly OperatorQueue[], now: Date): Mail {
    const page = `${this.config.publicBaseUrl}/dashboard/operations`;
    const lines = (language: 0 | 1): string[] =>
      queues.map(
        (queue) => `${TITLES[queue.name][language]}: ${queue.waiting} (${Math.floor(ageOf(queue, now) / 3_600_000)} h)`,
      );
    return {
      accountId: null,
      to,
      ...bilingualMail({
        page,
        subject: 'Há o que decidir na operação / Something waits for an operator',
        portuguese: ['Isto espera por quem opera o serviço, há quanto tempo o mais antigo:', ...lines(0), page],
        english: ['This waits for those who run the service, and for how long the oldest:', ...lines(1), page],
      }),
    };
  }
}
