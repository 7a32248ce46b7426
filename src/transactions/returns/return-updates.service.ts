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
  }

  /** Handles a report; the same report may come again. @returns false when no such return was asked for here */
  async moved(acquirer: string, endToEndId: string, returnId: string): Promise<boolean> {
    const refundId = refundIdOf(returnId);
    if (refundId !== null && (await this.refunds.has(refundId, acquirer, endToEndId))) {
      const failure = await this.work.runNow('refund', refundId);
      // Throws, so that the report comes again and is not lost in a long pause.
      if (failure !== null) throw failure;
      return true;
    }
    return this.returns.advance(acquirer, endToEndId, returnId);
  }
}
