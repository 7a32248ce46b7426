import { Process, Processor } from '@nestjs/bull';
import type { Job } from '../../core/queue/index.js';
import { ExpiryInquiryService } from '../creation/expiry-inquiry.service.js';

@Processor('transactions.expiry')
export class ExpiryProcessor {
  constructor(private readonly inquiry: ExpiryInquiryService) {}

  @Process({ concurrency: 16 })
  async run({ data }: Job<'transactions.expiry'>): Promise<void> {
    await this.inquiry.ask(data.transactionId);
  }
}
