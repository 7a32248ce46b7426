import { type ReturnReason } from '../returns/pix-return.entity.js';
import type { Notification, PaymentMethod, ReceivedPix } from '../../acquirers/index.js';
import { METHOD_RULES } from '../payment-methods.js';
import { isHeld, type Transaction } from '../transaction.js';
import type { Trigger } from '../transactions.machine.js';

/**
 * Money that an acquirer has confirmed. For methods other than Pix, `endToEndId` is the acquirer's id of the payment.
 */
export interface ReceivedMoney extends ReceivedPix {
  readonly method: PaymentMethod;
}

/** A confirmed payment on its way into the books. */
export interface Settlement {
  readonly acquirer: string;
  readonly money: ReceivedMoney;
  /** The notification that reported the payment, closed by the commit that books the money; null: there is none. */
  readonly notification: Notification | null;
  /** The account whose charge is paid; null until it is known. */
  accountId: string | null;
}

/** Decision about confirmed money. `trigger` moves the transaction; null leaves it as it is. */
export type SettlementDecision =
  | { readonly outcome: 'credited'; readonly reason: null; readonly trigger: Trigger }
  | { readonly outcome: 'returned'; readonly reason: ReturnReason; readonly trigger: Trigger | null }
  | { readonly outcome: 'review'; readonly reason: 'payer_unknown'; readonly trigger: Trigger };

const back = (reason: ReturnReason, trigger: Trigger | null = null): SettlementDecision => ({
  outcome: 'returned',
  reason,
  trigger,
});

/** Decision about a payment of an open sale above its limit (`PaymentLimits`). Ends the sale. */
export const OVER_LIMIT: SettlementDecision = back('charge_closed', 'cancelled');

/**
 * Decides about money that the acquirer confirmed. Source: docs/contract.md#settlement.
 *
 * A payment is in time if the bank settled it at or before the expiry, by the bank's own clock. A late
 * notification of it costs the merchant nothing. Once the row says EXPIRED, every payment is late; `ExpiryService`
 * says when that is written.
 *
 * A late payment is `returned`, with the trigger `expired` if the charge is still open. In the sandbox the trigger
 * writes the expiry. A live charge stays open (`settle` drops the trigger): its acquirer may still report another
 * payment, made in time. `ExpiryService` writes its expiry after asking the acquirer.
 *
 * The caller (`settle`) handles three cases itself:
 * - A Pix that was settled before (the same end-to-end id). If it has paid this charge, it is `repeated` and changes
 *   nothing. If it went back, is held or waits for an operator, it is decided here again, and then the unique index of
 *   `settlements` refuses it.
 * - A Pix without a charge. It is kept as `unmatched` for an operator. If its txid belongs to a charge of another
 *   acquirer of the account, that acquirer is asked about it. If an acquirer names the charge of an unmatched Pix
 *   later, `UnmatchedClaims` assigns the Pix to the charge, as an operator would.
 * - A Pix above the limit of payments that another module sets (`PaymentLimits`): `OVER_LIMIT`.
 *
 * Money that is not credited lies in the bucket `suspense` until it is back at its payer or an operator has decided.
 *
 * `ReturnProcessor` sends `returned` money back. A return is PENDING, then IN_PROGRESS, then RETURNED or FAILED. Calls
 * are repeated without end, after 0.5 s, 1 s, 2 s and so on, at last every hour. A return is FAILED, and waits for an
 * operator, in three cases:
 * - the bank refuses the first call;
 * - the bank reports later that it has not carried the return out;
 * - the bank still refuses after ten calls and eight minutes.
 *
 * A return has no event of its own, but the move of the sale (`trigger`) has one. If the method has no way back,
 * `settle` writes `unmatched` instead of `returned`, and the money waits for an operator.
 * @param transaction its row, locked. The row may say WAITING_PAYMENT while merchants read EXPIRED (`asOf`). A Pix that
 *   was in time still pays such a charge
 */
export function decideSettlement(transaction: Transaction, money: ReceivedMoney): SettlementDecision {
  switch (transaction.status) {
    case 'WAITING_PAYMENT':
      break;
    case 'PENDING':
      throw new Error('A charge that was paid was issued: that move comes first');
    case 'EXPIRED':
      return back('late');
    case 'CANCELLED':
    case 'REFUSED':
      return back('charge_closed');
    case 'PROCESSING':
      // While a card is in flight, another method may still pay: the first that settles wins.
      if (!isHeld(transaction)) break;
      return back('duplicate');
    case 'PAID':
    case 'APPROVED':
    case 'REFUNDED':
    case 'CHARGEBACK':
    case 'DISPUTE':
      return back('duplicate');
  }
  if (transaction.expiresAt !== null && money.settledAt.getTime() > transaction.expiresAt.getTime()) {
    return back('late', 'expired');
  }
  if (money.amount !== transaction.amount) return back('wrong_amount');
  if (transaction.expectedPayerTaxId !== null && money.payerDocument === null) {
    return { outcome: 'review', reason: 'payer_unknown', trigger: 'settled_by_unknown_payer' };
  }
  if (transaction.expectedPayerTaxId !== null && money.payerDocument !== transaction.expectedPayerTaxId) {
    return back('payer_mismatch', 'settled_by_other_payer');
  }
  return { outcome: 'credited', reason: null, trigger: METHOD_RULES[money.method].isCard ? 'approved' : 'settled' };
}

/**
 * Returns why money that an operator assigns would not pay the sale; null if it would. A PENDING sale refuses it.
 * Money that names the sale itself proves that the sale was issued, and assigned money does not.
 */
export function whyNotCredited(transaction: Transaction, money: ReceivedMoney): SettlementDecision['reason'] {
  return transaction.status === 'PENDING' ? 'charge_closed' : decideSettlement(transaction, money).reason;
}
