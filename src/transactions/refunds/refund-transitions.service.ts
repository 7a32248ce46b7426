import { Injectable } from '@nestjs/common';
import { InboxService, type ReturnState } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import type { Tx } from '../../core/database/index.js';
import { OutboxService } from '../../outbox/index.js';
import { WalletsService } from '../../wallets/index.js';
import { moneyOf, type Refund } from './refund.js';
import { REFUND_EVENT_OF, refundEvent } from './refunds.events.js';
import type { RefundTrigger } from './refunds.machine.js';
import { type RefundEnd, RefundsRepository } from './refunds.repository.js';
import { leftOf } from '../taken.js';
import type { Transaction } from '../transaction.js';
import { TransactionMoves } from '../transaction-moves.service.js';

/** The module that keeps disputes, which claim the money of payments. */
export interface DisputeClaims {
  /**
   * Called when a refund has failed or a loss was taken back, so more of the payment can be disputed. Runs in the
   * transaction that writes it, under the payment's lock and before the balances are touched.
   * @param cause the id of the refund or the correction
   */
  freed(tx: Tx, transaction: Transaction, cause: string): Promise<void>;
  /** Returns whether a dispute of the payment is not ruled yet. @param tx to read in; null: outside of any */
  isUnderway(tx: Tx | null, transactionId: string): Promise<boolean>;
}

/**
 * Makes the changes of an open refund, each with its money and its event in one commit. Each locks the transaction
 * first, then the refund, and the balances last.
 */
@Injectable()
export class RefundTransitions {
  #claims: DisputeClaims | null = null;

  constructor(
    private readonly moves: TransactionMoves,
    private readonly inbox: InboxService,
    private readonly refunds: RefundsRepository,
    private readonly wallets: WalletsService,
    private readonly outbox: OutboxService,
    private readonly clock: Clock,
  ) {}

  claimedBy(claims: DisputeClaims): void {
    this.#claims = claims;
  }

  /**
   * Returns whether an unruled dispute holds the money of the refund's payment. @param tx null: reads outside of any
   */
  async isClaimed(tx: Tx | null, { transactionId }: Refund): Promise<boolean> {
    return (await this.#claims?.isUnderway(tx, transactionId)) ?? false;
  }

  /** Lets disputes claim money that is free again: `DisputeClaims.freed`. */
  async freed(tx: Tx, transaction: Transaction, cause: string): Promise<void> {
    await this.#claims?.freed(tx, transaction, cause);
  }

  /**
   * Writes the intent, before the acquirer is called. A payment that was disputed meanwhile is not refunded, because
   * the dispute holds the same money. After the ruling the refund may use the money that the dispute did not take.
   * While a report of a dispute is looked up, the refund waits.
   * @returns the refund to call for, or null when there is none to be made now or another run has made it
   */
  async send(tx: Tx, refund: Refund): Promise<Refund | null> {
    const transaction = await this.moves.lock(tx, refund.transactionId);
    if (await this.inbox.isDisputeTold(tx, transaction.acquirer, transaction.txid ?? '')) return null;
    const isDisputed = transaction.status === 'DISPUTE' || transaction.status === 'CHARGEBACK';
    const isTaken = leftOf(transaction.amount, await this.refunds.standing(tx, transaction.id)) < 0;
    if (isTaken || (isDisputed && (await this.isClaimed(tx, refund)))) {
      await this.#move(tx, transaction, refund, 'stopped', { failureReason: 'charge_disputed' });
      return null;
    }
    return this.#move(tx, transaction, refund, 'sent', {});
  }

  /** Records the end that the acquirer reported. Only the first call for a refund has an effect. */
  async record(tx: Tx, refund: Refund, state: Extract<ReturnState, { kind: 'returned' | 'failed' }>): Promise<void> {
    switch (state.kind) {
      case 'returned': {
        const { bankReference, fee: providerFee } = state;
        await this.#move(tx, await this.moves.lock(tx, refund.transactionId), refund, 'returned', {
          bankReference,
          providerFee,
        });
        break;
      }
      case 'failed':
        await this.#move(tx, await this.moves.lock(tx, refund.transactionId), refund, 'refused', {
          failureReason: state.reason,
        });
    }
  }

  /**
   * Makes a transaction REFUNDED once all of it is back with the payer. A disputed transaction stays disputed. Call
   * this when its dispute is won, because refunds may have arrived meanwhile. The caller holds its lock.
   * @returns the transaction as it is now
   */
  async close(tx: Tx, transaction: Transaction): Promise<Transaction> {
    if ((await this.refunds.returned(tx, transaction.id)) < transaction.amount) return transaction;
    return (await this.moves.move(tx, transaction, 'refunded')) ?? transaction;
  }

  async #move(
    tx: Tx,
    transaction: Transaction,
    { id }: Refund,
    trigger: RefundTrigger,
    fields: RefundEnd,
  ): Promise<Refund | null> {
    const now = this.clock.now();
    const refund = await this.refunds.move(tx, id, trigger, now, fields);
    if (!refund) return null;
    const failed = refund.status === 'FAILED';
    const returned = refund.status === 'REFUNDED';
    if (failed) this.refunds.add(tx, refund, -refund.amount);
    const standing = failed
      ? { ...transaction, refundsAmount: transaction.refundsAmount - refund.amount }
      : transaction;
    const after = returned ? await this.close(tx, standing) : standing;
    this.outbox.record(tx, [refundEvent(REFUND_EVENT_OF[trigger], refund, after, transaction.status)]);
    if (failed) await this.freed(tx, after, refund.id);
    if (failed) this.wallets.releaseRefund(tx, moneyOf(refund));
    if (returned) {
      this.wallets.payRefund(tx, moneyOf(refund));
      this.wallets.chargeFee(tx, refund.id, { ...moneyOf(refund), amount: refund.providerFee });
    }
    return refund;
  }
}
