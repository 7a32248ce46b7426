import { Process, Processor } from '@nestjs/bull';
import type Bull from 'bull';
import type { WakeJob } from './job-queues.js';
import { Poller } from './poller.js';

/** Runs a task of this process for which another process has committed something. */
@Processor('wake')
export class WakeProcessor {
  constructor(private readonly poller: Poller) {}

  @Process({ name: 'wake', concurrency: 1 })
  async run({ data: { task } }: Pick<Bull.Job<WakeJob>, 'data'>): Promise<void> {
    this.poller.wake(task);
  }
}
