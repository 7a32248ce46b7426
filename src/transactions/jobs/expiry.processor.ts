import { Process, Processor } from '@nestjs/bull';
import type { Job } from '../../core/queue/index.js';
import { ExpiryService } from '../creation/expiry.service.js';

@Processor('transactions.expiry')
export class ExpiryProcessor {
  constructor(private readonly expiry: ExpiryService) {}

  @Process({ concurrency: 16 })
  async run({ data }: Job<'transactions.expiry'>): Promise<void> {
    await this.expiry.ask(data.transactionId);
  }
}
