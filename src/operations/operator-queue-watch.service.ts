import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Metrics } from '../core/metrics/index.js';
import { ageOf, type OperatorQueue, OperatorQueues } from '../core/operator-queues.js';
import { Poller } from '../core/queue/index.js';
import { OperatorAlerts } from './operator-alerts.service.js';

const SWEEP_MS = 5 * 60_000;

/** Shows in metrics what waits for operators, and finds what has waited too long. */
@Injectable()
export class OperatorQueueWatch implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly queues: OperatorQueues,
    private readonly alerts: OperatorAlerts,
    private readonly metrics: Metrics,
    private readonly poller: Poller,
    private readonly clock: Clock,
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
      () => this.#figures((queue) => ageOf(queue, this.clock.now()) / 1000),
    );
    if (this.config.operatorAlertMs > 0) this.poller.every('operations.alerts', SWEEP_MS, () => this.sweep());
  }

  /** Alerts operators of the queues that have become too old. */
  async sweep(): Promise<void> {
    const queues = await this.queues.list();
    const now = this.clock.now();
    await this.alerts.send(queues.filter((queue) => ageOf(queue, now) >= this.config.operatorAlertMs));
  }

  async #figures(figure: (queue: OperatorQueue) => number): Promise<Map<string, number>> {
    return new Map((await this.queues.list()).map((queue) => [queue.name, figure(queue)]));
  }
}
