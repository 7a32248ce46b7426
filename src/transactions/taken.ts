import type { Amount } from '../core/money/index.js';

/** Amounts taken of a sale, as its row counts them. */
export interface Taken {
  /** Refunds that have not failed, cashouts among them. */
  readonly refundsAmount: Amount;
  /**
   * The part of `refundsAmount` that goes back by a Pix of the merchant; the bank can still take the payment itself.
   */
  readonly cashoutsAmount: Amount;
  /** Amount that dispute cases hold or have lost. */
  readonly disputedAmount: Amount;
  /** Losses entered by operators: money that a bank took of the payment without our asking. */
  readonly lossesAmount: Amount;
}

export const TAKEN_FIELDS = ['refundsAmount', 'cashoutsAmount', 'disputedAmount', 'lossesAmount'] as const;

export const NOTHING_TAKEN: Taken = { refundsAmount: 0, cashoutsAmount: 0, disputedAmount: 0, lossesAmount: 0 };

/**
 * Returns the amount of a sale that a refund or a loss may still take. Negative when a dispute has taken money that a
 * cashout had given back. Source: docs/design/money.md#what-can-be-taken-of-a-sale.
 */
export function leftOf(amount: Amount, { refundsAmount, disputedAmount, lossesAmount }: Taken): Amount {
  return amount - refundsAmount - disputedAmount - lossesAmount;
}

/**
 * Returns the amount that the payer's bank can still take, and a case can hold. A cashout leaves the payment itself in
 * place, so its amount is added again.
 */
export function takeableOf(amount: Amount, taken: Taken): Amount {
  return Math.max(leftOf(amount, taken) + taken.cashoutsAmount, 0);
}
