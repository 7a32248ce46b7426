import { Process, Processor } from '@nestjs/bull';
import { WorkService } from './work.service.js';

/** Wakes the workers when a process without workers has added work. */
@Processor('work')
export class WorkProcessor {
  constructor(private readonly work: WorkService) {}

  @Process({ concurrency: 1 })
  async run(): Promise<void> {
    this.work.wake();
  }
}
