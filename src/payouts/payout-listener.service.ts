import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ConfirmationService } from '../acquirers/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { WorkService } from '../core/work/index.js';
import { PayoutsRepository } from './payouts.repository.js';

const SEND_ID = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/** @returns the payout's id of a send id; null if we did not make it */
export function payoutIdOf(sendId: string): string | null {
  const parts = SEND_ID.exec(sendId.toLowerCase());
  return parts && parts.slice(1).join('-');
}

/** Handles a PSP's report that a payout moved. The report is not believed: the payout is looked up at once. */
@Injectable()
export class PayoutListener implements OnModuleInit {
  constructor(
    private readonly confirmations: ConfirmationService,
    private readonly payouts: PayoutsRepository,
    private readonly database: Database,
    private readonly work: WorkService,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.confirmations.on('payoutMoved', (acquirer, sendId) => this.moved(acquirer, sendId));
  }

  /** Handles a report; the same report may come again. @returns false when no such payout was sent here */
  async moved(acquirer: string, sendId: string): Promise<boolean> {
    const id = payoutIdOf(sendId);
    const payout = id === null ? null : await this.payouts.findAny(id);
    if (payout?.acquirer !== acquirer) return false;
    await this.database.transaction(async (tx) => this.work.add(tx, 'payout', payout.id, this.clock.now()));
    const failure = await this.work.runNow('payout', payout.id);
    // Throws, so that the report comes again and is not lost in a pause.
    if (failure !== null) throw failure;
    return true;
  }
}
