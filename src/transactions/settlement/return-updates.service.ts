import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ConfirmationService } from '../../acquirers/index.js';
import { WorkService } from '../../core/work/index.js';
import { refundIdOf } from '../refunds/refund.js';
import { RefundsRepository } from '../refunds/refunds.repository.js';
import { ReturnsService } from './returns.service.js';

/**
 * An acquirer tells that money on its way back has moved. What it says is not believed: whoever asked for the return,
 * a refund or the service itself, asks at once instead of in its next pause.
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

  /** May be called again with the same news. @returns false when nobody here asked for such a return */
  async moved(acquirer: string, endToEndId: string, returnId: string): Promise<boolean> {
    const refundId = refundIdOf(returnId);
    if (refundId !== null && (await this.refunds.has(refundId, acquirer, endToEndId))) {
      const failure = await this.work.runNow('refund', refundId);
      // The news comes again then, and is not lost in a long pause.
      if (failure !== null) throw failure;
      return true;
    }
    return this.returns.advance(acquirer, endToEndId, returnId);
  }
}
