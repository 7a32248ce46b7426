import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/index.js';
import { InboxService, type RefundWay } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import type { Tx } from '../../core/database/index.js';
import { feesOf } from '../../core/money/index.js';
import { WalletsService } from '../../wallets/index.js';
import type { ReturnReason } from '../returns/pix-return.entity.js';
import { type PixReturnIntent, ReturnsService } from '../returns/returns.service.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import type { Transaction } from '../transaction.js';
import type { Trigger } from '../transactions.machine.js';
import type { MoveFields } from '../transactions.repository.js';
import { PaymentLimits } from './payment-limits.service.js';
import { ReceiptsService } from './receipts.service.js';
import type { ReceivedMoney } from './settlement.rules.js';

/** The fields of a confirmed payment that are needed to credit it. */
type CreditedMoney = Pick<ReceivedMoney, 'method' | 'endToEndId' | 'settledAt' | 'fee'>;

/**
 * Carries out decisions about confirmed money: state, ledger and event in the caller's transaction. The caller, which
 * may be an operator's request, has locked the sale.
 */
@Injectable()
export class SettlementOutcomes {
  constructor(
    private readonly moves: TransactionMoves,
    private readonly returns: ReturnsService,
    private readonly wallets: WalletsService,
    private readonly inbox: InboxService,
    private readonly receipts: ReceiptsService,
    private readonly limits: PaymentLimits,
    private readonly clock: Clock,
  ) {}

  /** Returns whether the sale may be under a limit of payments: then call `take` before `credit`, in no group. */
  isLimited(transaction: Transaction): boolean {
    return this.limits.mayApply(transaction);
  }

  /** Counts a payment under the limits of its sale. Locks their rows. @returns false when a limit is reached */
  take(tx: Tx, transaction: Transaction): Promise<boolean> {
    return this.limits.take(tx, transaction);
  }

  /**
   * Writes a sale as paid and credits its wallet. Locks balances.
   * @param wasSuspended the money was held for a review, so the ledger has it in `suspense` already
   */
  async credit(
    tx: Tx,
    { transaction, account }: { readonly transaction: Transaction; readonly account: Account },
    money: CreditedMoney,
    trigger: Trigger,
    wasSuspended: boolean,
  ): Promise<void> {
    const paidAt = paidAtOf(transaction, money.settledAt, this.clock.now());
    const fees = feesOf(transaction.amount, { bps: account.feeBps, fixed: account.feeFixed }, money.fee);
    const fields = { paidWith: money.method, endToEndId: money.endToEndId, paidAt, ...fees };
    await this.moves.move(tx, transaction, trigger, fields);
    this.inbox.wake(tx, transaction.acquirer, [money.endToEndId, transaction.txid]);
    this.receipts.ask(tx, transaction, account);
    const { id: transactionId, accountId, mode, currency, amount } = transaction;
    this.wallets.credit(tx, {
      ...{ accountId, mode, transactionId, currency, amount, ...fees, paidAt, wasSuspended },
      releaseDays: account.releaseDays,
      reserveBps: account.reserveBps,
      reserveDays: account.reserveDays,
    });
    if (wasSuspended) {
      const fee = { accountId, mode, currency, transactionId, amount: fees.providerFee };
      this.wallets.passFee(tx, transactionId, fee);
    }
  }

  /**
   * Sends money back to its payer: `ReturnProcessor` asks the bank, and leaves refused returns to an operator.
   * @param way null: the acquirer knows none
   * @param move null: the sale stays as it is
   */
  async sendBack(
    tx: Tx,
    transaction: Transaction,
    pix: Pick<PixReturnIntent, 'acquirer' | 'endToEndId' | 'amount'>,
    { way, reason }: { readonly way: RefundWay | null; readonly reason: ReturnReason },
    move: { readonly trigger: Trigger; readonly fields?: MoveFields } | null,
  ): Promise<void> {
    if (move) await this.moves.move(tx, transaction, move.trigger, move.fields);
    if (way !== null) this.returns.sendBack(tx, transaction, pix, way, reason);
  }
}

/**
 * Returns the bank's own time, limited to between the charge's creation and now. The day of the money's release counts
 * from it.
 */
function paidAtOf({ createdAt }: Transaction, settledAt: Date, now: Date): Date {
  return new Date(Math.max(Math.min(settledAt.getTime(), now.getTime()), createdAt.getTime()));
}
