import { Process, Processor } from '@nestjs/bull';
import { WorkService } from '../work.service.js';

/** Another process has added work and runs no workers itself. */
@Processor('work')
export class WorkProcessor {
  constructor(private readonly work: WorkService) {}

  @Process({ concurrency: 1 })
  async run(): Promise<void> {
    this.work.wake();
  }
}
