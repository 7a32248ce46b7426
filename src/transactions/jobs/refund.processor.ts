import { Process, Processor } from '@nestjs/bull';
import type { Job } from '../../core/queue/index.js';
import { RefundProgress } from '../refunds.progress.js';

/** An acquirer that hangs must not hold up the refunds of another one. */
@Processor('transactions.refund')
export class RefundProcessor {
  constructor(private readonly progress: RefundProgress) {}

  @Process({ concurrency: 16 })
  async run({ data }: Job<'transactions.refund'>): Promise<void> {
    await this.progress.advance(data.refundId);
  }
}
