import { Process, Processor } from '@nestjs/bull';
import type { Job } from '../../core/queue/index.js';
import { Dispatcher } from '../sending/dispatcher.service.js';

@Processor('deliveries')
export class DeliveriesProcessor {
  constructor(private readonly dispatcher: Dispatcher) {}

  /** One at a time: while this process has no room the next job is for another one. */
  @Process({ concurrency: 1 })
  async run({ data }: Job<'deliveries'>): Promise<void> {
    await this.dispatcher.take(data);
  }
}
