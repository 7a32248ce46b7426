import { Injectable } from '@nestjs/common';
import type { Role } from '../accounts/index.js';
import { type Actor, AuditTrail } from '../audit/index.js';
import { SecondFactorProof } from '../auth/index.js';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { conflict, forbidden, notFound } from '../core/errors/index.js';
import type { Scope } from '../core/mode.js';
import type { PayoutBody } from './dto/payout.body.js';
import type { PayoutDestination } from './payout-destination.entity.js';
import { PayoutDestinationsRepository } from './payout-destinations.repository.js';
import { payoutBody, payoutSnapshot } from './payout.serializer.js';
import { PayoutTransitions } from './payout-transitions.service.js';
import { PayoutsRepository, type WholePayout } from './payouts.repository.js';

/** A person who decides about a payout. */
export interface Decider {
  readonly userId: string;
  readonly role: Role;
  /** One-time code of the second factor; null: none was sent. */
  readonly code: string | null;
  readonly actor: Actor;
}

/** Decisions about payouts: by a person who did not ask for them, but for the wait for a new destination. */
@Injectable()
export class PayoutApprovals {
  constructor(
    private readonly payouts: PayoutsRepository,
    private readonly destinations: PayoutDestinationsRepository,
    private readonly transitions: PayoutTransitions,
    private readonly proof: SecondFactorProof,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * A second person approves a payout that waits for it. An OWNER's approval ends the wait for a new destination too,
   * also of an OWNER's own payout by a code of the second factor. Repeating is allowed.
   * @throws ApiError 400 for a missing or wrong code; 403 `approval_not_allowed`; 404; 409 `payout_not_waiting`; 429
   */
  async approve(scope: Scope, id: string, decider: Decider): Promise<PayoutBody> {
    const approved = await this.proof.transaction(decider, async (tx, hasProved) => {
      const payout = await this.#lock(tx, scope, id);
      // Without an approval amount no second person is due: an OWNER in a shop of one ends the wait.
      const isForOwner = decider.role === 'OWNER' && payout.status !== 'AWAITING' && !payout.needsApproval;
      if (!(isForOwner && hasProved)) await this.#assertOther(tx, scope, payout, decider, isForOwner);
      const moved = await this.transitions.approve(tx, payout, decider.userId, decider.role === 'OWNER');
      if (moved) this.#record(tx, decider.actor, 'payout.approved', moved);
      else if (payout.approvedBy === null || payout.status === 'CANCELLED') {
        throw conflict(
          'payout_not_waiting',
          'The payout does not wait for an approval of yours, or waits for the morning.',
        );
      }
      return moved ?? payout;
    });
    return payoutBody(payoutSnapshot(approved));
  }

  /** A second person refuses a payout that waits for approval. @throws ApiError as `approve` */
  async refuse(scope: Scope, id: string, decider: Decider, reason: string | null = null): Promise<PayoutBody> {
    const refused = await this.proof.transaction(decider, async (tx) => {
      const payout = await this.#lock(tx, scope, id);
      await this.#assertOther(tx, scope, payout, decider, false);
      if (payout.status === 'CANCELLED' && payout.failure === 'approval_refused') return payout;
      const moved = await this.transitions.disapprove(tx, payout, decider.userId);
      if (!moved) throw conflict('payout_not_waiting', 'The payout does not wait for an approval.');
      this.#record(tx, decider.actor, 'payout.disapproved', moved, reason === null ? {} : { reason });
      return moved;
    });
    return payoutBody(payoutSnapshot(refused));
  }

  /**
   * An OWNER approves a destination: payouts to it no longer wait, also those that wait now. Repeating is allowed.
   * @throws ApiError 400 for a missing or wrong code; 404; 429
   */
  async approveDestination(scope: Scope, id: string, decider: Decider): Promise<PayoutDestination> {
    const { userId, actor } = decider;
    const found = await this.destinations.find(scope, id);
    if (!found) throw notFound('payout destination');
    const approved = await this.proof.transaction(decider, async (tx) => {
      const moved = await this.destinations.approve(tx, scope, id, userId, this.clock.now());
      if (!moved) return null;
      const data = { mode: scope.mode, destination_id: id };
      this.audit.record(tx, actor, 'payout_destination.approved', scope.accountId, { data });
      await this.transitions.releaseWaits(tx, scope, moved.targetHash);
      return moved;
    });
    return approved ?? found;
  }

  async #lock(tx: Tx, scope: Scope, id: string): Promise<WholePayout> {
    const payout = await this.payouts.lock(tx, id);
    if (payout?.accountId !== scope.accountId || payout.mode !== scope.mode) throw notFound('payout');
    return payout;
  }

  /** @param isForOwner whether a second factor would do instead of another person @throws ApiError 403 */
  async #assertOther(
    tx: Tx,
    scope: Scope,
    { requestedBy, targetHash }: WholePayout,
    { userId }: Decider,
    isForOwner: boolean,
  ): Promise<void> {
    const isAsker = requestedBy === userId;
    if (!isAsker && !(await this.destinations.hasApproved(tx, scope, targetHash, userId))) return;
    const hint = isForOwner ? ' To end its wait yourself, set up a second factor and send its code.' : '';
    throw forbidden(
      `Another person has to decide: you asked for this payout, issued its API key, changed its schedule or approved its destination.${hint}`,
      'approval_not_allowed',
    );
  }

  #record(
    tx: Tx,
    actor: Actor,
    type: 'payout.approved' | 'payout.disapproved',
    payout: WholePayout,
    why: { readonly reason?: string } = {},
  ): void {
    const { id, accountId, mode, amount } = payout;
    this.audit.record(tx, actor, type, accountId, { data: { mode, payout_id: id, amount, ...why } });
  }
}
