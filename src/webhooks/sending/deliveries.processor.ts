import { Process, Processor } from '@nestjs/bull';
import type Bull from 'bull';
import { Dispatcher } from './dispatcher.service.js';
import type { Receiver } from './endpoint-slots.js';

/** Deliveries to an endpoint are due. */
@Processor('deliveries')
export class DeliveriesProcessor {
  constructor(private readonly dispatcher: Dispatcher) {}

  /** Runs a single job at a time: while this process has no room, other processes take the next jobs. */
  @Process({ name: 'deliveries', concurrency: 1 })
  async run({ data }: Pick<Bull.Job<Receiver>, 'data'>): Promise<void> {
    await this.dispatcher.take(data);
  }
}
