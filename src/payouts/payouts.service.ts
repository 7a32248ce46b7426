import { Injectable } from '@nestjs/common';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Database } from '../core/database/index.js';
import { conflict, notFound } from '../core/errors/index.js';
import type { Scope } from '../core/mode.js';
import type { CurrencyTotal } from '../core/totals.js';
import type { PayoutBody } from './dto/payout.body.js';
import { payoutBody, payoutSnapshot } from './payout.serializer.js';
import { PayoutTransitions } from './payout-transitions.service.js';
import { type PayoutFilter, PayoutsRepository, type WholePayout } from './payouts.repository.js';

/** Reads payouts of a merchant, and cancels them. */
@Injectable()
export class PayoutsService {
  constructor(
    private readonly database: Database,
    private readonly payouts: PayoutsRepository,
    private readonly transitions: PayoutTransitions,
    private readonly audit: AuditTrail,
  ) {}

  /** @throws ApiError 404 */
  async get(scope: Scope, id: string): Promise<PayoutBody> {
    return payoutBody(payoutSnapshot(await this.#find(scope, id)));
  }

  /** Newest first. */
  list(scope: Scope, filter: PayoutFilter): Promise<WholePayout[]> {
    return this.payouts.list(scope, filter);
  }

  totals(scope: Scope, filter: PayoutFilter): Promise<CurrencyTotal[]> {
    return this.payouts.totals(scope, filter);
  }

  /** Cancels a payout before it is sent. Repeating is allowed. @throws ApiError 404; 409 `payout_not_cancellable` */
  async cancel(scope: Scope, id: string, actor: Actor): Promise<PayoutBody> {
    const payout = await this.#find(scope, id);
    if (payout.status === 'CANCELLED') return payoutBody(payoutSnapshot(payout));
    const cancelled = await this.database.transaction(async (tx) => {
      const moved = await this.transitions.fail(tx, payout, 'cancelled', 'cancelled');
      const { accountId, mode, amount } = payout;
      if (moved) this.audit.record(tx, actor, 'payout.cancelled', accountId, { data: { mode, payout_id: id, amount } });
      return moved;
    });
    const now = cancelled ?? (await this.#find(scope, id));
    if (now.status === 'CANCELLED') return payoutBody(payoutSnapshot(now));
    throw conflict('payout_not_cancellable', 'The payout was given to the bank: it cannot be cancelled any more.');
  }

  async #find(scope: Scope, id: string): Promise<WholePayout> {
    const payout = await this.payouts.find(scope, id);
    if (!payout) throw notFound('payout');
    return payout;
  }
}
