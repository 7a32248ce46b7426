import { Process, Processor } from '@nestjs/bull';
import type { Job } from '../../core/queue/index.js';
import { Dispatcher } from './dispatcher.service.js';

@Processor('deliveries')
export class DeliveriesProcessor {
  constructor(private readonly dispatcher: Dispatcher) {}

  /** Runs a single job at a time: while this process has no room, other processes take the next jobs. */
  @Process({ concurrency: 1 })
  async run({ data }: Job<'deliveries'>): Promise<void> {
    await this.dispatcher.take(data);
  }
}
