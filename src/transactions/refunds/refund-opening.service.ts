import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/index.js';
import { AcquirersService, InboxService } from '../../acquirers/index.js';
import { SecretBox } from '../../core/crypto/index.js';
import type { Tx } from '../../core/database/index.js';
import { badRequest, business, notFound } from '../../core/errors/index.js';
import { WorkService } from '../../core/work/index.js';
import { WalletsService } from '../../wallets/index.js';
import { moneyOf, type Refund, type RefundOrder } from './refund.js';
import { RefundsRepository } from './refunds.repository.js';
import { planRefund } from './refunds.rules.js';
import { TransactionsRepository } from '../transactions.repository.js';

/** Opens refunds: locks the payment, decides what of it goes back and how, and sets the money aside. */
@Injectable()
export class RefundOpening {
  constructor(
    private readonly transactions: TransactionsRepository,
    private readonly acquirers: AcquirersService,
    private readonly inbox: InboxService,
    private readonly refunds: RefundsRepository,
    private readonly wallets: WalletsService,
    private readonly work: WorkService,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Writes a new refund under the lock of its payment, and has it sent once that is committed.
   * @throws ApiError 404; what `planRefund` throws; 400 `charge_disputed`, also while a report of a dispute is looked up;
   *   422 `insufficient_balance`
   */
  async open(
    tx: Tx,
    { id, now }: { id: string; now: Date },
    account: Account,
    transactionId: string,
    order: RefundOrder,
  ): Promise<Refund> {
    const transaction = await this.transactions.lock(tx, transactionId);
    if (!transaction) throw notFound('payment');
    const { refunds } = this.acquirers.get(transaction.acquirer).capabilities;
    const { payerIsKnown, refundCount, ...taken } = await this.refunds.standing(tx, transactionId);
    const plan = planRefund(order, {
      ...{ transaction, taken, payerIsKnown, refundCount },
      ways: (transaction.paidWith && refunds[transaction.paidWith]) ?? [],
      pixOutFee: account.pixOutFee,
    });
    if (await this.inbox.isDisputeTold(tx, transaction.acquirer, transaction.txid ?? '')) {
      throw badRequest(
        'charge_disputed',
        'A dispute of this payment was reported and is being looked up at its bank: try again in some seconds.',
      );
    }
    const refund: Refund = {
      id,
      accountId: transaction.accountId,
      mode: transaction.mode,
      transactionId: transaction.id,
      acquirer: transaction.acquirer,
      paymentReference: transaction.endToEndId ?? '',
      way: plan.way,
      amount: plan.amount,
      fee: plan.fee,
      currency: transaction.currency,
      reason: order.reason,
      destinationSealed: order.destinationKey === null ? null : this.secrets.seal(order.destinationKey, `refund:${id}`),
      status: 'PENDING',
      bankReference: null,
      failureReason: null,
      providerFee: 0,
      createdAt: now,
      updatedAt: now,
    };
    this.refunds.add(tx, refund, refund.amount);
    this.refunds.insert(tx, refund);
    this.work.add(tx, 'refund', id, now);
    if (!(await this.wallets.reserveRefund(tx, moneyOf(refund)))) {
      throw business(
        'insufficient_balance',
        'The available balance does not cover the refund; pending and retained money cannot be used for it.',
      );
    }
    return refund;
  }
}
