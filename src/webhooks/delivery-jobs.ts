import { Injectable } from '@nestjs/common';
import { Logger } from '../core/log/index.js';
import { JobQueue } from '../core/queue/index.js';

declare module '../core/queue/index.js' {
  interface JobMap {
    'webhooks.deliver': { deliveryId: string };
  }
}

/** How long a queued delivery is taken to have its job; past that the sweeper queues it again. */
export const QUEUED_MS = 30_000;

/** The queue as this module uses it: a job only says that a delivery may be worth a look. */
@Injectable()
export class DeliveryJobs {
  constructor(
    private readonly jobs: JobQueue,
    private readonly logger: Logger,
  ) {}

  /** Never rejects: what could not be queued is brought by the sweeper. */
  async queue(deliveryIds: readonly string[]): Promise<boolean> {
    try {
      await this.jobs.add(
        'webhooks.deliver',
        deliveryIds.map((deliveryId) => ({ deliveryId })),
      );
      return true;
    } catch (error) {
      this.logger.warn(
        { error, count: deliveryIds.length },
        'webhook deliveries not queued; the sweeper will bring them',
      );
      return false;
    }
  }

  /** Jobs that no worker has begun; null when the queue cannot be asked. */
  async waiting(): Promise<number | null> {
    try {
      return (await this.jobs.counts())['webhooks.deliver']?.waiting ?? 0;
    } catch {
      return null;
    }
  }
}
