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
  /** The notification that reported the payment, to be ended in the same commit. */
  readonly notification: Notification | null;
  /** The owner of the charge that it pays, once known. */
  accountId: string | null;
}

/** `trigger`: the move of the transaction, or null when it stays as it is. */
export type SettlementDecision =
  | { readonly outcome: 'credited'; readonly reason: null; readonly trigger: Trigger }
  | { readonly outcome: 'returned'; readonly reason: ReturnReason; readonly trigger: Trigger | null }
  | { readonly outcome: 'review'; readonly reason: 'payer_unknown'; readonly trigger: Trigger };

const back = (reason: ReturnReason, trigger: Trigger | null = null): SettlementDecision => ({
  outcome: 'returned',
  reason,
  trigger,
});

/**
 * Decides about money that the acquirer confirmed. Source: docs/contract.md#settlement.
 *
 * Whether a payment was in time is decided by the bank's own time of settlement, at or before the expiry. A
 * notification that reaches us late then does not cost the merchant a payment. Once the row says EXPIRED
 * (`ExpiryService` describes who writes that), every payment is late.
 *
 * Two other cases are decided by the caller (`settle`):
 * - A Pix that was settled before (the same end-to-end id) is `repeated` and changes nothing, if it has paid this
 *   charge. If it has gone back, is held or waits for an operator, it is decided anew here, and then the unique index of
 *   `settlements` refuses it.
 * - A Pix of no charge is kept as `unmatched` for an operator. If its txid is of another acquirer's charge, that
 *   acquirer is asked about it. If an acquirer names the charge of its unmatched Pix later, `UnmatchedClaims` assigns the
 *   Pix to the charge as an operator would.
 *
 * Money that is not credited lies in the bucket `suspense` until it is back at its payer or an operator has decided.
 * `ReturnProcessor` sends back `returned` money, from PENDING by IN_PROGRESS to RETURNED or FAILED. It repeats without
 * end, after 0.5 s, 1 s, 2 s and so on, at last every hour.
 *
 * A return is FAILED, and waits for an operator, in three cases: the bank refuses the first call; it reports later that
 * it has not carried the return out; it still refuses after ten calls and eight minutes. A return has no event of its
 * own, but the move of the sale (`trigger`) has one. If the method has no way back, `SettlementService` writes
 * `unmatched` instead of `returned`, and the money waits for an operator.
 * @param transaction as its row says, under lock. The row may still say WAITING_PAYMENT where a merchant reads EXPIRED
 *   already (`asOf`): such a charge is still paid by a Pix that was in time
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
      // A card is in flight, which keeps no other method from paying: the first that settles wins.
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
 * Returns why money that an operator assigns would not pay the sale; null if it would. A PENDING sale refuses it:
 * unlike money that names the sale itself, assigned money does not prove that the sale was issued.
 * @returns why this money would not pay the sale; null where it would
 */
export function whyNotCredited(transaction: Transaction, money: ReceivedMoney): SettlementDecision['reason'] {
  return transaction.status === 'PENDING' ? 'charge_closed' : decideSettlement(transaction, money).reason;
}
