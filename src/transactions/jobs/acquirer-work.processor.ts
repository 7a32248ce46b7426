import { Process, Processor } from '@nestjs/bull';
import type { Job } from '../../core/queue/index.js';
import { AcquirerWorkService } from '../acquirer-work.service.js';

@Processor('transactions.acquirer')
export class AcquirerWorkProcessor {
  constructor(private readonly work: AcquirerWorkService) {}

  @Process({ concurrency: 16 })
  async run({ data }: Job<'transactions.acquirer'>): Promise<void> {
    await this.work.process(data.transactionId);
  }
}
