import { Process, Processor } from '@nestjs/bull';
import { doubling, type Work, type WorkAnswer, type Worker } from '../../core/work/index.js';
import { AcquirerWorkService } from '../creation/acquirer-work.service.js';

@Processor('acquirer')
export class AcquirerProcessor implements Worker {
  readonly backoff = doubling(1_000, 60_000);
  readonly leaseMs = 30_000;

  constructor(private readonly acquirerWork: AcquirerWorkService) {}

  @Process({ concurrency: 16 })
  run({ subjectId }: Work): Promise<WorkAnswer> {
    return this.acquirerWork.run(subjectId);
  }
}
