import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/index.js';
import type { Tx } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import { type Claims, type DisputedPayment, DisputesRepository } from './disputes.repository.js';
import { isPaidWithCard } from '../payment-methods.js';
import { RefundTransitions } from '../refunds/refund-transitions.service.js';
import type { MedBlock, Transaction } from '../transaction.js';
import type { DisputeCase } from '../transaction.events.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import { MOVES, type Trigger } from '../transactions.machine.js';
import { TransactionsRepository } from '../transactions.repository.js';

/** A transaction that is disputed, locked, and what has become of its money. */
export interface Disputed extends Claims {
  readonly transaction: Transaction;
  readonly account: Account;
}

/**
 * What disputes do to a transaction, for the module that keeps their cases. Every method is called in its transaction,
 * under the transaction's lock.
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
   * Locks the transaction whose payment a dispute is about.
   * @returns it with the reference under which the payment was settled; `disputed` null for a Pix of no sale with which an
   *   operator has dealt; null while that payment is not known here, or it is not decided what becomes of it
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

  /** @returns what keeps a payment, of those that `named` names by reference or txid, from being settled */
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

  /** The transactions that cases are about, in no particular order and not locked. */
  async transactionsOf(tx: Tx, ids: readonly string[]): Promise<Transaction[]> {
    return this.transactions.findAll(tx, ids);
  }

  /** Locks a transaction that has cases. */
  async lock(tx: Tx, transactionId: string): Promise<Disputed> {
    const locked = await this.transactions.lockWithAccount(tx, transactionId);
    if (!locked) throw new Error(`There is no transaction ${transactionId}`);
    return { ...locked, ...(await this.disputes.claims(tx, transactionId)) };
  }

  /** Writes `metadata.med`; null takes it away. */
  writeMedBlock(tx: Tx, transactionId: string, med: MedBlock | null): void {
    this.disputes.writeMedBlock(tx, transactionId, med);
  }

  /**
   * Adds to what cases hold or have lost, or takes off when negative. With the devolutions more than was paid fails
   * the transaction (check `transactions_disputed_amount_check`).
   */
  add(tx: Tx, transactionId: string, amount: Amount): void {
    this.disputes.add(tx, transactionId, amount);
  }

  /**
   * @param disputeCase by which it is disputed
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

  /** Ends the dispute; refunds that arrived meanwhile may have brought all of it back. @returns the transaction as it is now */
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
