import { Process, Processor } from '@nestjs/bull';
import type { Work, WorkAnswer, Worker } from '../../core/work/index.js';
import { RefundProgress } from '../refunds/refund-progress.service.js';
import { RETURN_BACKOFF } from '../settlement/return-calls.service.js';

@Processor('refund')
export class RefundProcessor implements Worker {
  readonly backoff = RETURN_BACKOFF;
  readonly leaseMs = 30_000;

  constructor(private readonly progress: RefundProgress) {}

  /** So many at once that an acquirer that hangs does not hold up the refunds of another one. */
  @Process({ concurrency: 16 })
  run({ subjectId, attempt }: Work): Promise<WorkAnswer> {
    return this.progress.advance(subjectId, attempt);
  }
}
