import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ConfirmationService } from '../../acquirers/index.js';
import { WorkService } from '../../core/work/index.js';
import { refundIdOf } from '../refunds/refund.js';
import { RefundsRepository } from '../refunds/refunds.repository.js';
import { ReturnsService } from './returns.service.js';

/**
 * Handles an acquirer's report that money on its way back has moved. The report is not believed: the refund or return
 * that asked for the money asks the acquirer at once, without waiting for its next pause.
 */
@Injectable()
export class ReturnUpdates implements OnModuleInit {
  constructor(
    private readonly confirmations: ConfirmationService,
    private readonly returns: ReturnsService,
    private readonly refunds: RefundsRepository,
    private readonly work: WorkService,
  ) {}

  onModuleInit(): void {
    this.confirmations.on('returnMoved', (acquirer, endToEndId, returnId) =>
      this.moved(acquirer, endToEndId, returnId),
    );
    this.confirmations.on('cashoutMoved', (acquirer, sendId) => this.cashoutMoved(acquirer, sendId));
  }

  /** Handles a report; the same report may come again. @returns false when no such return was asked for here */
  async moved(acquirer: string, endToEndId: string, returnId: string): Promise<boolean> {
    const refundId = refundIdOf(returnId);
    if (refundId !== null && (await this.refunds.has(refundId, acquirer, endToEndId))) {
      await this.#run(refundId);
      return true;
    }
    return this.returns.advance(acquirer, endToEndId, returnId);
  }

  /** Handles a report about a refund by cashout. @returns false when no such cashout was sent here */
  async cashoutMoved(acquirer: string, sendId: string): Promise<boolean> {
    const refundId = refundIdOf(sendId);
    if (refundId === null || !(await this.refunds.hasCashout(refundId, acquirer))) return false;
    await this.#run(refundId);
    return true;
  }

  async #run(refundId: string): Promise<void> {
    const failure = await this.work.runNow('refund', refundId);
    // Throws, so that the report comes again and is not lost in a long pause.
    if (failure !== null) throw failure;
  }
}
