import { Injectable } from '@nestjs/common';
import { InboxService, type RefundWay } from '../../acquirers/index.js';
import { newReturnId } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { Database, type Tx } from '../../core/database/index.js';
import { newId } from '../../core/ids.js';
import { Logger } from '../../core/log/index.js';
import { type WorkAnswer, WorkService } from '../../core/work/index.js';
import { WalletsService } from '../../wallets/index.js';
import { ReturnCalls } from './return-calls.service.js';
import { type IntentField, SettlementsRepository } from './settlements.repository.js';
import type { PixReturnEntity, Transaction } from '../transaction.entity.js';
import type { ReturnReason } from './settlement.rules.js';

export interface PixReturnIntent extends Pick<PixReturnEntity, IntentField> {
  /** Of the transaction. */
  readonly txid: string | null;
}

/**
 * Sends money that is nobody's payment back to its payer: intent in the settlement's transaction, call, outcome. A call
 * whose outcome is not known leaves the return in flight.
 */
@Injectable()
export class ReturnsService {
  constructor(
    private readonly database: Database,
    private readonly settlements: SettlementsRepository,
    private readonly calls: ReturnCalls,
    private readonly wallets: WalletsService,
    private readonly inbox: InboxService,
    private readonly work: WorkService,
    private readonly clock: Clock,
    private readonly logger: Logger,
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

  /** Takes one a step further. @param attempt from 1 on */
  async run(id: string, attempt: number): Promise<WorkAnswer> {
    const pixReturn = await this.settlements.openReturn(id);
    if (!pixReturn) return 'done';
    const { accountId, acquirer, endToEndId, returnId, way, amount, currency, createdAt } = pixReturn;
    const name = { accountId, way, reference: endToEndId, returnId };
    const request = { ...name, cause: 'unwanted', amount, currency, destination: null } as const;
    // A worker that died between its call and the record has left it PENDING: only at the first attempt is nothing there.
    const state = await this.calls.advance(
      acquirer,
      request,
      attempt === 1 ? null : { attempts: attempt, since: createdAt },
    );
    const now = this.clock.now();
    await this.database.transaction(async (tx) => {
      switch (state.kind) {
        case 'returned':
          if (!(await this.settlements.completeReturn(tx, id, now, state.fee))) return;
          this.wallets.giveBack(tx, id, pixReturn);
          return this.wallets.chargeFee(tx, id, { ...pixReturn, amount: state.fee });
        case 'failed':
          // Nobody is out of pocket, the money is still with us: an operator has to look.
          this.logger.error({ returnId, reason: state.reason }, 'a return was refused');
          return this.settlements.moveReturn(tx, id, 'FAILED', state.reason, now);
        case 'in_progress':
        case 'not_found':
          return this.settlements.moveReturn(tx, id, 'IN_PROGRESS', null, now);
      }
    });
    return state.kind === 'returned' || state.kind === 'failed' ? 'done' : 'again';
  }
}
