import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/index.js';
import type { Tx } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import { isPaidWithCard } from '../payment-methods.js';
import { RefundTransitions } from '../refunds/refund-transitions.service.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import type { MedBlock } from '../transaction.entity.js';
import type { DisputeCase } from '../transaction.events.js';
import type { Transaction } from '../transaction.js';
import { MOVES, type Trigger } from '../transactions.machine.js';
import { TransactionsRepository } from '../transactions.repository.js';
import { type Claims, type DisputedPayment, DisputesRepository } from './disputes.repository.js';

/** A disputed transaction, locked, with the amounts taken of it. */
export interface Disputed extends Claims {
  readonly transaction: Transaction;
  readonly account: Account;
}

/**
 * Changes transactions for disputes, on behalf of the module that keeps their cases. Every method runs in the case's
 * database transaction, under the lock of the disputed transaction.
 */
@Injectable()
export class DisputesService {
  constructor(
    private readonly transactions: TransactionsRepository,
    private readonly moves: TransactionMoves,
    private readonly disputes: DisputesRepository,
    private readonly refunds: RefundTransitions,
  ) {}

  /**
   * Locks the transaction whose payment is disputed.
   * @returns the transaction with the reference under which the payment was settled. `disputed` is null for a Pix of no
   *   sale that an operator has dealt with. Null while the payment is not known here, or is undecided
   */
  async find(
    tx: Tx,
    acquirer: string,
    payment: DisputedPayment,
  ): Promise<{ disputed: Disputed | null; paymentReference: string } | null> {
    const settled = await this.disputes.settled(tx, acquirer, payment);
    if (!settled) return null;
    const { transactionId, paymentReference } = settled;
    return { disputed: transactionId === null ? null : await this.lock(tx, transactionId), paymentReference };
  }

  /** @returns why a payment named by reference or txid is not settled yet */
  async unsettled(
    named: readonly { acquirer: string; awaits: string }[],
  ): Promise<(one: { acquirer: string; awaits: string }) => 'held' | 'unmatched' | 'unknown'> {
    const found = named.length === 0 ? [] : await this.disputes.unsettled(named);
    return ({ acquirer, awaits }) => {
      const of = found.find((s) => s.acquirer === acquirer && (s.endToEndId === awaits || s.txid === awaits));
      if (!of) return 'unknown';
      return of.outcome === 'review' ? 'held' : 'unmatched';
    };
  }

  /** Returns the transactions of cases, in no particular order and not locked. */
  async transactionsOf(tx: Tx, ids: readonly string[]): Promise<Transaction[]> {
    return this.transactions.findAll(tx, ids);
  }

  /** Locks a transaction that has cases. */
  async lock(tx: Tx, transactionId: string): Promise<Disputed> {
    const locked = await this.transactions.lockWithAccount(tx, transactionId);
    if (!locked) throw new Error(`There is no transaction ${transactionId}`);
    return { ...locked, ...(await this.disputes.claims(tx, transactionId)) };
  }

  /** Writes `metadata.med`; null removes it. */
  writeMedBlock(tx: Tx, transactionId: string, med: MedBlock | null): void {
    this.disputes.writeMedBlock(tx, transactionId, med);
  }

  /**
   * Adds to the amount that cases hold or have lost; a negative amount reduces it. If devolutions and this exceed the
   * payment, the transaction fails (check `transactions_disputed_amount_check`).
   */
  add(tx: Tx, transactionId: string, amount: Amount): void {
    this.disputes.add(tx, transactionId, amount);
  }

  /**
   * @param disputeCase the case that disputes it
   * @returns the transaction as it is now; unchanged where it cannot be disputed (any more)
   */
  async dispute(
    tx: Tx,
    transaction: Transaction,
    trigger: 'disputed' | 'card_disputed' | 'charged_back',
    disputeCase: DisputeCase,
  ): Promise<Transaction> {
    return this.#move(tx, transaction, trigger, { case: disputeCase });
  }

  /**
   * Ends the dispute; refunds that arrived meanwhile may have returned all of it. @returns the transaction as it is now
   */
  async revive(tx: Tx, transaction: Transaction): Promise<Transaction> {
    const trigger = isPaidWithCard(transaction) ? 'card_dispute_won' : 'dispute_won';
    return this.refunds.close(tx, await this.#move(tx, transaction, trigger));
  }

  async #move(
    tx: Tx,
    transaction: Transaction,
    trigger: Trigger,
    more: { case?: DisputeCase } = {},
  ): Promise<Transaction> {
    if (!MOVES[trigger].from.includes(transaction.status)) return transaction;
    const moved = await this.moves.move(tx, transaction, trigger, {}, more);
    if (!moved) throw new Error(`${transaction.id} was moved while it was locked`);
    return moved;
  }
}
