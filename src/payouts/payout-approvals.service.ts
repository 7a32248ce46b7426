import { Injectable } from '@nestjs/common';
import type { Role } from '../accounts/index.js';
import { type Actor, AuditTrail } from '../audit/index.js';
import { SecondFactorProof } from '../auth/index.js';
import type { Tx } from '../core/database/index.js';
import { conflict, forbidden, notFound } from '../core/errors/index.js';
import type { Scope } from '../core/mode.js';
import type { PayoutBody } from './dto/payout.body.js';
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

/** Decisions about payouts by a person who did not ask for them. */
@Injectable()
export class PayoutApprovals {
  constructor(
    private readonly payouts: PayoutsRepository,
    private readonly destinations: PayoutDestinationsRepository,
    private readonly transitions: PayoutTransitions,
    private readonly proof: SecondFactorProof,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * A second person approves a payout that waits for it. An OWNER's approval ends the wait for a new destination too.
   * Repeating is allowed.
   * @throws ApiError 400 for a missing or wrong code; 403 `approval_not_allowed`; 404; 409 `payout_not_waiting`; 429
   */
  async approve(scope: Scope, id: string, decider: Decider): Promise<PayoutBody> {
    const approved = await this.proof.transaction(decider, async (tx) => {
      const payout = await this.#lock(tx, scope, id, decider);
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
      const payout = await this.#lock(tx, scope, id, decider);
      if (payout.status === 'CANCELLED' && payout.failure === 'approval_refused') return payout;
      const moved = await this.transitions.disapprove(tx, payout, decider.userId);
      if (!moved) throw conflict('payout_not_waiting', 'The payout does not wait for an approval.');
      this.#record(tx, decider.actor, 'payout.disapproved', moved, reason === null ? {} : { reason });
      return moved;
    });
    return payoutBody(payoutSnapshot(refused));
  }

  /** Locks a payout for a decision by somebody who did not ask for it. */
  async #lock(tx: Tx, scope: Scope, id: string, { userId }: Decider): Promise<WholePayout> {
    const payout = await this.payouts.lock(tx, id);
    if (payout?.accountId !== scope.accountId || payout.mode !== scope.mode) throw notFound('payout');
    const isAsker = payout.requestedBy === userId;
    if (isAsker || (await this.destinations.hasApproved(tx, scope, payout.targetHash, userId))) {
      throw forbidden(
        'Another person has to decide: you asked for this payout, issued its API key, changed its schedule or approved its destination.',
        'approval_not_allowed',
      );
    }
    return payout;
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
