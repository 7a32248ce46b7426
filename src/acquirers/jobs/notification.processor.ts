import { Process, Processor } from '@nestjs/bull';
import type { Job } from '../../core/queue/index.js';
import { ConfirmationService } from '../confirmation.service.js';

@Processor('acquirers.notification')
export class NotificationProcessor {
  constructor(private readonly confirmations: ConfirmationService) {}

  @Process({ concurrency: 16 })
  async run({ data }: Job<'acquirers.notification'>): Promise<void> {
    await this.confirmations.confirm(data.notificationId);
  }
}
