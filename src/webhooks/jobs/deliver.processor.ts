import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Config, CONFIG } from '../../core/config/index.js';
import { JobQueue } from '../../core/queue/index.js';
import { DeliveriesService } from '../deliveries.service.js';

@Injectable()
export class DeliverProcessor implements OnApplicationBootstrap, OnModuleDestroy {
  #closing = false;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly queue: JobQueue,
    private readonly deliveries: DeliveriesService,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.runsWorkers) return;
    const { concurrency } = this.config.webhooks;
    this.queue.process('webhooks.deliver', { concurrency }, async ({ deliveryId }) => {
      // The queue is closed after the application: without this a backlog would be taken and not sent, each delivery
      // losing an attempt and its lease. Not taken, it is the next process's within 30 s.
      if (!this.#closing) await this.deliveries.deliver(deliveryId);
    });
  }

  onModuleDestroy(): void {
    this.#closing = true;
  }
}
