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

/** Digits after the point: the smallest unit is a hundredth for all but bitcoin. */
export function digitsOf(currency: string): number {
  return currency === 'BTC' ? 8 : 2;
}

/** An amount in the currency itself, exactly: 1990 of BRL is `19.90`. */
export function decimalText(amount: Amount, currency: string): string {
  const digits = digitsOf(currency);
  const text = String(Math.abs(amount)).padStart(digits + 1, '0');
  return `${amount < 0 ? '-' : ''}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/**
 * For people: `R$ 1.234,56`, other currencies by their code. With an ordinary space, where Intl's currency style has a
 * no-break one: an amount that is searched for or pasted elsewhere is what a keyboard types.
 */
export function moneyText(amount: Amount, currency: string): string {
  const [whole, fraction] = decimalText(amount, currency).split('.');
  return `${currency === 'BRL' ? 'R$' : currency} ${Number(whole).toLocaleString('pt-BR')},${fraction}`;
}
