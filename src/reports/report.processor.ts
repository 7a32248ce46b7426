import { Injectable } from '@nestjs/common';
import { Logger } from '../core/log/index.js';
import { doubling, LeaseLost, type Work, type WorkAnswer, type Worker } from '../core/work/index.js';
import { ReportMaker } from './report-maker.service.js';

const MAX_ATTEMPTS = 5;

/** Makes the file of a report, one at a time in each process, and removes it when its days are over. */
@Injectable()
export class ReportProcessor implements Worker {
  readonly kind = 'report';
  readonly concurrency = 1;
  readonly backoff = doubling(5_000, 600_000);
  /** Prolonged while rows are coming, and a quarter of an hour beyond. */
  readonly leaseMs = 30_000;

  constructor(
    private readonly maker: ReportMaker,
    private readonly logger: Logger,
  ) {}

  async run({ subjectId: id, attempt, prolong }: Work): Promise<WorkAnswer> {
    const begun = await this.maker.begin(id);
    if (!begun) return this.maker.end(id);
    try {
      return await this.maker.make(begun, prolong);
    } catch (error) {
      if (attempt < MAX_ATTEMPTS || error instanceof LeaseLost) throw error;
      this.logger.error({ error, reportId: id }, 'a report could not be made and is given up');
      return this.maker.giveUp(begun, prolong);
    }
  }
}
