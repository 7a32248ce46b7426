import { Process, Processor } from '@nestjs/bull';
import { Relay } from './relay.service.js';

@Processor('outbox.wake')
export class WakeProcessor {
  constructor(private readonly relay: Relay) {}

  @Process({ concurrency: 1 })
  async run(): Promise<void> {
    this.relay.wake();
  }
}
