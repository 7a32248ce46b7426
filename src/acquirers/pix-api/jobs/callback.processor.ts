import { Process, Processor } from '@nestjs/bull';
import { doubling, type Work, type WorkAnswer, type Worker } from '../../../core/work/index.js';
import { CallbackReader } from '../callback-reader.js';

@Processor('callback')
export class CallbackProcessor implements Worker {
  readonly backoff = doubling(1_000, 3_600_000);
  readonly leaseMs = 15_000;

  constructor(private readonly reader: CallbackReader) {}

  @Process({ concurrency: 4 })
  run({ subjectId }: Work): Promise<WorkAnswer> {
    return this.reader.read(subjectId);
  }
}
