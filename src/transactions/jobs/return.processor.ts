import { Process, Processor } from '@nestjs/bull';
import type { Work, WorkAnswer, Worker } from '../../core/work/index.js';
import { RETURN_BACKOFF } from '../settlement/return-calls.service.js';
import { ReturnProgress } from '../settlement/return-progress.service.js';

@Processor('return')
export class ReturnProcessor implements Worker {
  readonly backoff = RETURN_BACKOFF;
  readonly leaseMs = 30_000;

  constructor(private readonly returns: ReturnProgress) {}

  @Process({ concurrency: 16 })
  run({ subjectId, attempt }: Work): Promise<WorkAnswer> {
    return this.returns.run(subjectId, attempt);
  }
}
