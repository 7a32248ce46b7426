import { Injectable } from '@nestjs/common';
import type { Tx } from '../core/database/index.js';
import { Metrics } from '../core/metrics/index.js';
import { OutboxService } from '../outbox/index.js';
import { publicPayoutStatus } from './payout-status.js';
import { payoutEvent, type PayoutEventType } from './payouts.events.js';
import type { PayoutStatus } from './payouts.machine.js';
import type { ShownReturn, WholePayout } from './payouts.repository.js';

/** Records the changes of payouts: their events, and after the commit their metrics. */
@Injectable()
export class PayoutRecorder {
  constructor(
    private readonly outbox: OutboxService,
    private readonly metrics: Metrics,
  ) {}

  /** @param previous null: the payout is new */
  record(
    tx: Tx,
    type: PayoutEventType,
    payout: WholePayout,
    previous: PayoutStatus | null,
    returned?: ShownReturn,
  ): void {
    this.outbox.record(tx, [payoutEvent(type, payout, previous, returned)]);
    const status = publicPayoutStatus(payout.status);
    // A payout that was put back was counted as pending when it was requested.
    const isCounted = previous === null || publicPayoutStatus(previous) !== status;
    if (!isCounted || type === 'payout.put_back') return;
    const labels = { mode: payout.mode, method: 'pix', status };
    tx.afterCommit(() => {
      this.metrics.payouts.inc(labels);
      this.metrics.payoutCents.inc(labels, payout.amount);
    });
  }
}
