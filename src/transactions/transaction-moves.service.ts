import { Injectable } from '@nestjs/common';
import type { Account } from '../accounts/index.js';
import { Clock } from '../core/clock.js';
import { leaveGroup, type Tx } from '../core/database/index.js';
import { OutboxService } from '../outbox/index.js';
import type { Transaction } from './transaction.js';
import { type DisputeEventData, EVENT_OF, transactionEvent, type TransactionEventType } from './transaction.events.js';
import type { TransactionStatus, Trigger } from './transactions.machine.js';
import { type MoveFields, TransactionsRepository } from './transactions.repository.js';

/**
 * Makes every change of a transaction's status, with its event in the same commit. Only the expiry sweep moves many at
 * once, without this class.
 */
@Injectable()
export class TransactionMoves {
  constructor(
    private readonly transactions: TransactionsRepository,
    private readonly outbox: OutboxService,
    private readonly clock: Clock,
  ) {}

  /**
   * @param transaction the earlier state, whose status goes into the event
   * @param more further data for the event
   * @returns the moved transaction, or null when its status no longer allows the move: it was moved meanwhile
   */
  async move(
    tx: Tx,
    { id, status }: Pick<Transaction, 'id' | 'status'>,
    trigger: Trigger,
    fields: MoveFields = {},
    more: Pick<DisputeEventData, 'case'> = {},
  ): Promise<Transaction | null> {
    const moved = await this.transactions.move(tx, id, trigger, this.clock.now(), fields);
    if (!moved) return null;
    // A charge that was not issued yet has had no event, so there is no previous status to show.
    this.tell(tx, EVENT_OF[trigger], moved, trigger === 'issued' ? null : status, more);
    return moved;
  }

  /** Writes an event of a transaction, also where its status stays. @param previousStatus null: it was just created */
  tell(
    tx: Tx,
    type: TransactionEventType,
    transaction: Transaction,
    previousStatus: TransactionStatus | null,
    more: Pick<DisputeEventData, 'case'> = {},
  ): void {
    const event = transactionEvent(type, transaction, previousStatus);
    this.outbox.record(tx, [{ ...event, data: { ...event.data, ...more } }]);
  }

  /**
   * Stores the code of a payment that was accepted without one, and writes the event that announces it as a charge. A
   * payment that was cancelled meanwhile gets no event: its failure was announced already.
   */
  async announce(tx: Tx, id: string, brCode: string): Promise<void> {
    const issued = await this.transactions.keepCode(tx, id, brCode, this.clock.now());
    if (!issued || issued.status === 'CANCELLED') return;
    this.tell(tx, 'transaction.issued', issued, issued.status);
  }

  async lock(tx: Tx, id: string): Promise<Transaction> {
    const transaction = await this.transactions.lock(tx, id);
    if (!transaction) throw new Error(`There is no transaction ${id}`);
    return transaction;
  }

  /**
   * Locks a transaction. If it is PENDING, the acquirer has made it after all: that is written first, with its event.
   */
  async lockIssued(
    tx: Tx,
    acquirer: string,
    txid: string,
  ): Promise<{ transaction: Transaction; account: Account } | null> {
    const found =
      (await this.transactions.lockByTxid(tx, acquirer, txid)) ?? (await this.#lockInAnyCase(tx, acquirer, txid));
    if (found?.transaction.status !== 'PENDING') return found;
    leaveGroup(tx);
    return { ...found, transaction: (await this.move(tx, found.transaction, 'issued')) ?? found.transaction };
  }

  /** Locks by a txid in other letters, because some PSPs write it in capitals. */
  async #lockInAnyCase(
    tx: Tx,
    acquirer: string,
    txid: string,
  ): Promise<{ transaction: Transaction; account: Account } | null> {
    leaveGroup(tx);
    const own = await this.transactions.txidInAnyCase(tx, acquirer, txid);
    return own === null ? null : this.transactions.lockByTxid(tx, acquirer, own);
  }
}
