import { Injectable } from '@nestjs/common';
import { doubling, type Work, type WorkAnswer, type Worker } from '../core/work/index.js';
import { PayoutSchedules } from './payout-schedules.service.js';

/** Runs the payout schedule of an account at each of its times. The work ends when the account has no schedule. */
@Injectable()
export class PayoutScheduleProcessor implements Worker {
  readonly kind = 'payout_schedule';
  readonly concurrency = 4;
  readonly backoff = doubling(5_000, 10 * 60_000);
  readonly leaseMs = 60_000;

  constructor(private readonly schedules: PayoutSchedules) {}

  async run({ subjectId }: Work): Promise<WorkAnswer> {
    return (await this.schedules.run(subjectId)) ?? 'done';
  }
}
