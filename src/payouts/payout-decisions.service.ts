import { Injectable } from '@nestjs/common';
import { AcquirersService, type PayoutRefusal } from '../acquirers/index.js';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { conflict, notFound } from '../core/errors/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { notFoundFinalAfterMs } from './payout.processor.js';
import { PayoutTransitions } from './payout-transitions.service.js';
import { PayoutsRepository, type WholePayout } from './payouts.repository.js';

/** An operator's knowledge of what happened to a payout at its bank. */
export interface PayoutDecision {
  readonly outcome: 'paid' | 'failed';
  readonly endToEndId: string | null;
  readonly failure: PayoutRefusal | null;
  /** How the operator knows. */
  readonly reason: string;
}

/** Payouts without a known outcome, which operators decide. */
@Injectable()
export class PayoutDecisions {
  constructor(
    private readonly database: Database,
    private readonly payouts: PayoutsRepository,
    private readonly transitions: PayoutTransitions,
    private readonly acquirers: AcquirersService,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Newest first. Across accounts. */
  list(filter: IdCursorFilter): Promise<WholePayout[]> {
    return this.payouts.uncertain(filter);
  }

  /** Ends a payout as the operator says. @throws ApiError 404; 409 `payout_not_uncertain`, `payout_too_young` */
  async resolve(id: string, decision: PayoutDecision, actor: Actor): Promise<WholePayout> {
    return this.database.transaction(async (tx) => {
      const payout = await this.payouts.lock(tx, id);
      if (!payout) throw notFound('payout');
      const { outcome, endToEndId, failure, reason } = decision;
      if (outcome === 'failed') this.#assertQuiet(payout);
      // A queued payout has reached no bank. Before its time, the merchant can cancel it.
      const isOverdue = payout.status === 'QUEUED' && payout.sendAfter < this.clock.now();
      const paid = { endToEndId, at: this.clock.now(), fee: 0 };
      const moved =
        outcome === 'paid'
          ? await this.transitions.pay(tx, payout, paid)
          : await this.transitions.fail(tx, payout, isOverdue ? 'stopped' : 'refused', failure ?? 'not_sent');
      if (!moved) throw conflict('payout_not_uncertain', 'The payout has an end, or its time has not come.');
      const { accountId, mode, amount } = moved;
      const data = { mode, payout_id: id, amount, outcome, end_to_end_id: endToEndId, reason };
      this.audit.record(tx, actor, 'payout.resolved', accountId, { data });
      return moved;
    });
  }

  /** A call may still be made, or be on its way, so today's statement of the bank proves nothing. Test money needs no wait. */
  #assertQuiet({ mode, acquirer, sentAt }: WholePayout): void {
    const desk = this.acquirers.get(acquirer).payouts;
    if (mode === 'test' || sentAt === null || !desk) return;
    const quietAt = new Date(sentAt.getTime() + notFoundFinalAfterMs(desk.capabilities));
    if (quietAt <= this.clock.now()) return;
    throw conflict(
      'payout_too_young',
      `The bank may still get or carry out the payout. Say that it failed after ${quietAt.toISOString()}.`,
    );
  }
}
