import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { UsersService } from '../accounts/index.js';
import { Clock, DAY_MS } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { bilingualMail, Mailer } from '../core/mail/index.js';
import { Metrics } from '../core/metrics/index.js';
import { type OperatorQueue, type OperatorQueueName, OperatorQueues } from '../core/operator-queues.js';
import { Poller } from '../core/queue/index.js';
import { OperatorAlertsRepository } from './operator-alerts.repository.js';

const SWEEP_MS = 5 * 60_000;

const TITLES: Readonly<Record<OperatorQueueName, readonly [portuguese: string, english: string]>> = {
  reviews: ['Pagamentos retidos', 'Held payments'],
  med: ['Disputas a decidir', 'Disputes to decide'],
  med_waiting: ['Disputas sem venda', 'Disputes without a sale'],
  unmatched: ['Pix sem cobrança', 'Unmatched Pix'],
  corrections: ['Correções', 'Corrections'],
  negative_balances: ['Saldos negativos', 'Negative balances'],
  unreadable: ['O que não se pôde ler', 'What could not be read'],
  work: ['Trabalho atrasado', 'Overdue work'],
};

/** Shows in metrics what waits for operators, and tells them by mail of what has waited too long. */
@Injectable()
export class OperatorAlerts implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly queues: OperatorQueues,
    private readonly alerts: OperatorAlertsRepository,
    private readonly users: UsersService,
    private readonly mailer: Mailer,
    private readonly metrics: Metrics,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.runsWorkers) return;
    this.metrics.gaugeBy('recebe_operator_queue_waiting', 'What waits for an operator.', 'queue', () =>
      this.#figures(({ waiting }) => waiting),
    );
    this.metrics.gaugeBy(
      'recebe_operator_queue_age_seconds',
      'How long the oldest one of a queue has waited for an operator.',
      'queue',
      () => this.#figures((queue) => this.#ageOf(queue) / 1000),
    );
    if (this.config.operatorAlertMs > 0) this.poller.every('operations.alerts', SWEEP_MS, () => this.sweep());
  }

  /** One mail to each operator of all queues that have become too old, of each queue once a day. */
  async sweep(): Promise<void> {
    const late = (await this.queues.list()).filter((queue) => this.#ageOf(queue) >= this.config.operatorAlertMs);
    const names = late.filter(({ waiting }) => waiting > 0).map(({ name }) => name);
    if (names.length === 0) return;
    const operators = await this.users.operatorEmails();
    const now = this.clock.now();
    const claimed = await this.database.transaction(async (tx) => {
      const taken = await this.alerts.claim(tx, names, now, new Date(now.getTime() - DAY_MS));
      const told = late.filter(({ name }) => taken.has(name));
      if (told.length > 0) for (const to of operators) this.mailer.enqueue(tx, this.#mail(to, told));
      return told;
    });
    for (const { name, waiting, since } of claimed) {
      this.logger.warn({ queue: name, waiting, since, operators: operators.length }, 'a queue waits for an operator');
    }
  }

  #mail(to: string, queues: readonly OperatorQueue[]): Parameters<Mailer['enqueue']>[1] {
    const page = `${this.config.publicBaseUrl}/dashboard/operations`;
    const lines = (language: 0 | 1): string[] =>
      queues.map(
        (queue) =>
          `${TITLES[queue.name][language]}: ${queue.waiting} (${Math.floor(this.#ageOf(queue) / 3_600_000)} h)`,
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

  async #figures(figure: (queue: OperatorQueue) => number): Promise<Map<string, number>> {
    return new Map((await this.queues.list()).map((queue) => [queue.name, figure(queue)]));
  }

  /** In milliseconds. */
  #ageOf({ since }: OperatorQueue): number {
    return since === null ? 0 : Math.max(0, this.clock.now().getTime() - since.getTime());
  }
}
