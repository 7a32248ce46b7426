import type { Amount } from '../core/money/index.js';

/** What has been taken of a sale, as its row counts it. */
export interface Taken {
  /** Refunds that have not failed, cashouts among them. */
  readonly refundsAmount: Amount;
  /** The part of `refundsAmount` that goes back by a Pix of the merchant; the payment itself stays where the bank can take it. */
  readonly cashoutsAmount: Amount;
  /** What cases hold or have lost. */
  readonly disputedAmount: Amount;
  /** What operators have entered that a bank took of the payment without our asking. */
  readonly lossesAmount: Amount;
}

export const TAKEN_FIELDS = ['refundsAmount', 'cashoutsAmount', 'disputedAmount', 'lossesAmount'] as const;

export const NOTHING_TAKEN: Taken = { refundsAmount: 0, cashoutsAmount: 0, disputedAmount: 0, lossesAmount: 0 };

/**
 * What a refund or a loss may still take of a sale. Below zero when a dispute has taken what a cashout had given back.
 * Source: docs/design/money.md#what-can-be-taken-of-a-sale.
 */
export function leftOf(amount: Amount, { refundsAmount, disputedAmount, lossesAmount }: Taken): Amount {
  return amount - refundsAmount - disputedAmount - lossesAmount;
}

/** What the payer's bank can still take of a payment, and a case hold: a cashout has left the payment where it was. */
export function takeableOf(amount: Amount, taken: Taken): Amount {
  return Math.max(leftOf(amount, taken) + taken.cashoutsAmount, 0);
}
