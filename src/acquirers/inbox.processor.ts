import { Process, Processor } from '@nestjs/bull';
import { InboxDispatcher } from './inbox-dispatcher.service.js';

/** A process without workers has stored hints. */
@Processor('acquirers.inbox')
export class InboxProcessor {
  constructor(private readonly dispatcher: InboxDispatcher) {}

  @Process({ concurrency: 1 })
  async run(): Promise<void> {
    this.dispatcher.wake();
  }
}
