import { Process, Processor } from '@nestjs/bull';
import type { Job } from '../../core/queue/index.js';
import { InboxService } from '../inbox.service.js';

@Processor('acquirers.notification')
export class NotificationProcessor {
  constructor(private readonly inbox: InboxService) {}

  @Process({ concurrency: 16 })
  async run({ data }: Job<'acquirers.notification'>): Promise<void> {
    await this.inbox.process(data.notificationId);
  }
}
