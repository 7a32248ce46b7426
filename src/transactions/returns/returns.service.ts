import { Injectable } from '@nestjs/common';
import { InboxService, type RefundWay } from '../../acquirers/index.js';
import { newReturnId } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import type { Tx } from '../../core/database/index.js';
import { newId } from '../../core/ids.js';
import { WorkService } from '../../core/work/index.js';
import { type IntentField, SettlementsRepository } from '../settlement/settlements.repository.js';
import type { Transaction } from '../transaction.entity.js';
import type { PixReturnEntity, ReturnReason } from './pix-return.entity.js';

export interface PixReturnIntent extends Pick<PixReturnEntity, IntentField> {
  /** The txid of the transaction. */
  readonly txid: string | null;
}

/** Sends money that is nobody's payment back to its payer: the intent is written here, ReturnProcessor carries it out. */
@Injectable()
export class ReturnsService {
  constructor(
    private readonly settlements: SettlementsRepository,
    private readonly inbox: InboxService,
    private readonly work: WorkService,
    private readonly clock: Clock,
  ) {}

  /** Sends money of a charge back by its own id, never by a new payment: it is not the merchant's to send. */
  sendBack(
    tx: Tx,
    { id: transactionId, accountId, mode, txid, currency }: Transaction,
    { acquirer, endToEndId, amount }: Pick<PixReturnIntent, 'acquirer' | 'endToEndId' | 'amount'>,
    way: RefundWay,
    reason: ReturnReason,
  ): void {
    const money = { acquirer, endToEndId, amount, currency };
    this.request(tx, { accountId, mode, transactionId, txid, ...money, returnId: newReturnId(), way, reason });
  }

  /** Sends back all that is held of a charge, which is no longer wanted. */
  async giveBackHeld(tx: Tx, transaction: Transaction, reason: ReturnReason): Promise<void> {
    for (const held of await this.settlements.giveBackHeld(tx, transaction.id, reason, this.clock.now())) {
      // Only a Pix is ever held.
      this.sendBack(tx, transaction, held, 'devolution', reason);
    }
  }

  /** Writes the intent; who disputes the payment by its bank is heard from now on. */
  request(tx: Tx, intent: PixReturnIntent): void {
    const now = this.clock.now();
    const id = newId(now);
    this.settlements.insertReturn(tx, { ...intent, id, now });
    this.inbox.wake(tx, intent.acquirer, [intent.endToEndId, intent.txid]);
    this.work.add(tx, 'return', id, now);
  }

  /**
   * Takes one that is in flight a step further now, whenever it is due.
   * @returns false when there is no such return
   */
  async advance(acquirer: string, endToEndId: string, returnId: string): Promise<boolean> {
    const id = await this.settlements.findReturn(acquirer, endToEndId, returnId);
    const failure = id === null ? null : await this.work.runNow('return', id);
    if (failure !== null) throw failure;
    return id !== null;
  }
}
