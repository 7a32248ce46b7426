import { Process, Processor } from '@nestjs/bull';
import { doubling, type Work, type WorkAnswer, type Worker } from '../../core/work/index.js';
import { ReportsService } from '../reports.service.js';

/** Makes the file of a report, one at a time in each process, and removes it when its days are over. */
@Processor('report')
export class ReportProcessor implements Worker {
  readonly backoff = doubling(5_000, 600_000);
  /** Prolonged while rows are coming. */
  readonly leaseMs = 30_000;

  constructor(private readonly reports: ReportsService) {}

  @Process({ concurrency: 1 })
  run(work: Work): Promise<WorkAnswer> {
    return this.reports.run(work);
  }
}
