import { Injectable } from '@nestjs/common';
import { InboxService, type WaitingDispute } from '../../acquirers/index.js';
import type { IdCursorFilter } from '../../core/http/index.js';
import { DisputesService } from '../../transactions/index.js';

/** A dispute that waits for its payment, so that it has no case yet. */
export interface MedWaiting extends WaitingDispute {
  /** The state of its payment: `held` or `unmatched` waits for an operator itself; `unknown` has not arrived here. */
  readonly payment: 'held' | 'unmatched' | 'unknown';
}

/**
 * Lists disputes that wait for their payment to be settled here. Works across accounts: never for a merchant's request.
 */
@Injectable()
export class MedWaitingList {
  constructor(
    private readonly inbox: InboxService,
    private readonly disputes: DisputesService,
  ) {}

  /** Newest first. */
  async list(filter: IdCursorFilter): Promise<MedWaiting[]> {
    const waiting = await this.inbox.waitingDisputes(filter);
    const unsettled = await this.disputes.unsettled(waiting);
    return waiting.map((dispute) => ({ ...dispute, payment: unsettled(dispute) }));
  }
}
