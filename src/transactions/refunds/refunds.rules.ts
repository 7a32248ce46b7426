import type { RefundWay } from '../../acquirers/index.js';
import { badRequest, business, invalidRequest } from '../../core/errors/index.js';
import type { Amount } from '../../core/money/index.js';
import type { RefundOrder } from './refund.js';
import { leftOf, type Taken } from '../taken.js';
import type { Transaction } from '../transaction.js';

/** Facts for deciding on a refund, read under the transaction's lock. */
export interface RefundFacts {
  readonly transaction: Pick<Transaction, 'status' | 'amount' | 'paidWith'>;
  /**
   * Amounts that disputes took here are gone for good: while the status is DISPUTE or CHARGEBACK no refund is made at
   * all.
   */
  readonly taken: Taken;
  /** Ways in which the acquirer can refund the method of the payment; empty when there is none. */
  readonly ways: readonly RefundWay[];
  /** Whether the bank reported who paid. */
  readonly payerIsKnown: boolean;
  /** How many refunds the transaction has, with any outcome. */
  readonly refundCount: number;
  readonly pixOutFee: Amount;
}

/** How many refunds a payment may have: one answer lists them all. */
export const MAX_REFUNDS = 1_000;

export interface RefundPlan {
  readonly way: RefundWay;
  readonly amount: Amount;
  readonly fee: Amount;
}

/**
 * Decides whether and how a refund is made, except for the balance. `RefundOpening` checks afterwards, under the
 * balance's lock, whether `available` covers the amount and the fee. Source: docs/contract.md#refunds.
 * @throws ApiError in this order: 400 `charge_disputed` or `payment_not_refundable`; 422 `REFUND_NOT_SUPPORTED`; 400
 *   `invalid_request`, for fields of Pix on another method; 422 `REFUND_STRATEGY_NOT_SUPPORTED`; 400
 *   `refund_amount_exceeds_remaining`; 422 `refund_limit_reached`
 */
export function planRefund(order: RefundOrder, facts: RefundFacts): RefundPlan {
  const { transaction } = facts;
  switch (transaction.status) {
    case 'PAID':
    case 'APPROVED':
      break;
    case 'DISPUTE':
    case 'CHARGEBACK':
      throw badRequest(
        'charge_disputed',
        'A disputed payment cannot be refunded: its money is held until the ruling, or was lost by it.',
      );
    case 'PENDING':
    case 'WAITING_PAYMENT':
    case 'PROCESSING':
    case 'REFUSED':
    case 'CANCELLED':
    case 'EXPIRED':
    case 'REFUNDED':
      throw badRequest(
        'payment_not_refundable',
        `Only a payment that is PAID or APPROVED can be refunded; this one is ${transaction.status}.`,
      );
  }
  const way = wayOf(order, facts);
  // After a cashout, which is a separate Pix, a dispute can still take all of the payment. Refunds and losses can then
  // exceed the payment, and 0 remains.
  const remaining = Math.max(leftOf(transaction.amount, facts.taken), 0);
  const amount = order.amount ?? remaining;
  if (amount > remaining || remaining === 0) {
    throw badRequest(
      'refund_amount_exceeds_remaining',
      `At most ${remaining} can still be refunded; refunds on their way count as made, and what a dispute or a bank has taken is gone.`,
      'amount',
    );
  }
  if (facts.refundCount >= MAX_REFUNDS) {
    throw business('refund_limit_reached', `A payment has at most ${MAX_REFUNDS} refunds, failed ones among them.`);
  }
  return { way, amount, fee: way === 'cashout' && order.passFee ? facts.pixOutFee : 0 };
}

function wayOf(order: RefundOrder, { transaction, ways, payerIsKnown }: RefundFacts): RefundWay {
  const [first] = ways;
  if (first === undefined) {
    throw business('REFUND_NOT_SUPPORTED', 'The provider of this payment does not refund payments of its method.');
  }
  if (transaction.paidWith !== 'PIX') {
    const pixOnly = [
      ...(order.strategy === null ? [] : ['strategy']),
      ...(order.passFee ? ['passFeeToTenant'] : []),
      ...(order.destinationKey === null ? [] : ['destinationKey']),
    ];
    if (pixOnly.length > 0) {
      const message = `is for payments made with Pix; this one was made with ${transaction.paidWith}`;
      throw invalidRequest(pixOnly.map((param) => ({ param, code: 'invalid', message })));
    }
    return first;
  }
  const hasDestination = order.destinationKey !== null || payerIsKnown;
  // If a key is given, only a cashout will do: a devolution would send the money elsewhere.
  const wanted = order.strategy ?? (order.destinationKey === null ? null : 'cashout');
  if (wanted === null) {
    if (ways.includes('cashout') && hasDestination) return 'cashout';
    if (ways.includes('devolution')) return 'devolution';
  } else if (ways.includes(wanted) && (wanted !== 'cashout' || hasDestination)) {
    return wanted;
  }
  throw business(
    'REFUND_STRATEGY_NOT_SUPPORTED',
    hasDestination || !ways.includes('cashout')
      ? `The provider of this payment cannot refund it by ${wanted ?? 'any strategy'}; it can by ${ways.join(', ')}.`
      : 'The bank did not report who paid: send a destinationKey, or use another strategy.',
  );
}
