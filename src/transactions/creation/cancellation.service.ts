import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { badRequest, notFound } from '../../core/errors/index.js';
import type { Scope } from '../../core/mode.js';
import { WorkService } from '../../core/work/index.js';
import { OutboxService } from '../../outbox/index.js';
import { ReturnsService } from '../returns/returns.service.js';
import { asOf, failureOf, isHeld, type Transaction } from '../transaction.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import { nextStatus, type TransactionStatus } from '../transactions.machine.js';
import { TransactionsRepository } from '../transactions.repository.js';

/** Cancels transactions that are not paid yet. */
@Injectable()
export class CancellationService {
  constructor(
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly moves: TransactionMoves,
    private readonly returns: ReturnsService,
    private readonly work: WorkService,
    private readonly outbox: OutboxService,
    private readonly clock: Clock,
  ) {}

  /**
   * Cancels a transaction; a job cancels it at the acquirer afterwards. If a payment comes at the same moment, the
   * transaction's lock decides which wins. Money that comes after the cancellation goes back. Repeating the call
   * changes nothing and returns the same.
   * @throws ApiError 404, 400 `payment_not_cancellable`
   */
  async cancel(scope: Scope, id: string): Promise<{ transaction: Transaction; previousStatus: TransactionStatus }> {
    return this.database.transaction(async (tx) => {
      const found = await this.transactions.lockOwn(tx, scope, id);
      if (!found) throw notFound('payment');
      const now = this.clock.now();
      const transaction = asOf(found, now);
      const previousStatus = transaction.status;
      if (previousStatus === 'CANCELLED') {
        const cancelled = await this.outbox.last(tx, scope, id, 'transaction.cancelled');
        return { transaction, previousStatus: cancelled?.data.previousStatus ?? 'WAITING_PAYMENT' };
      }
      if (nextStatus(previousStatus, 'cancelled') === null) {
        throw badRequest(
          'payment_not_cancellable',
          `The payment is ${previousStatus}; only one that waits for its payment can be cancelled, and one that was paid must be refunded instead.`,
        );
      }
      const failure = failureOf(transaction, {
        reason: 'The charge was cancelled by the merchant.',
        providerErrorCode: 'canceled',
        at: now,
      });
      const moved = await this.moves.move(tx, transaction, 'cancelled', { failure });
      if (!moved) throw new Error(`${id} is locked and was ${previousStatus}, but could not be cancelled`);
      if (isHeld(transaction)) await this.returns.giveBackHeld(tx, transaction, 'cancelled');
      this.work.add(tx, 'acquirer', id, now);
      return { transaction: moved, previousStatus };
    });
  }
}
