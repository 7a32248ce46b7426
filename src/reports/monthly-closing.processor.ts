import { Injectable } from '@nestjs/common';
import { doubling, type Work, type WorkAnswer, type Worker } from '../core/work/index.js';
import { MonthlyClosings } from './monthly-closings.service.js';

/** Closes the month of an account on the first bank day of the next one. */
@Injectable()
export class MonthlyClosingProcessor implements Worker {
  readonly kind = 'monthly_closing';
  readonly concurrency = 4;
  readonly backoff = doubling(5_000, 10 * 60_000);
  readonly leaseMs = 60_000;

  constructor(private readonly closings: MonthlyClosings) {}

  async run({ subjectId }: Work): Promise<WorkAnswer> {
    return (await this.closings.run(subjectId)) ?? 'done';
  }
}
