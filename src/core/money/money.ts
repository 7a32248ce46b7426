/** Integer of the currency's smallest unit (cents for BRL). */
export type Amount = number;

/** The largest amount of a request: docs/contract.md#bodies-and-values. */
export const MAX_AMOUNT: Amount = 999_999_999_999;

/**
 * `amount × bps / 10 000`, rounded half up, once. BigInt because the product passes 2^53 for the largest amounts.
 * @param bps basis points, 0 to 10 000
 */
export function basisPoints(amount: Amount, bps: number): Amount {
  return Number((BigInt(amount) * BigInt(bps) * 2n + 10_000n) / 20_000n);
}

/** Fees of a settlement; together never more than the amount, so that a net amount is never negative. */
export function feesOf(
  amount: Amount,
  platform: { bps: number; fixed: Amount },
  provider: Amount,
): { providerFee: Amount; platformFee: Amount; netAmount: Amount } {
  const providerFee = Math.min(provider, amount);
  const platformFee = Math.min(basisPoints(amount, platform.bps) + platform.fixed, amount - providerFee);
  return { providerFee, platformFee, netAmount: amount - providerFee - platformFee };
}
