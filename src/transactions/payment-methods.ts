import type { PaymentMethod } from '../acquirers/index.js';

/** Rules of one payment method. */
export interface MethodRules {
  /** ISO 4217. Null: any currency. */
  readonly currency: 'BRL' | null;
  /** Calendar days in São Paulo that a voucher can be paid in, after the day of its creation. Null: the account's window. */
  readonly voucherDays: number | null;
  /** The acquirer needs the payer's phone, in E.164, in `metadata.phone`. */
  readonly needsPhone: boolean;
  /** Cards are authorised, disputed as chargebacks, and refunded to the card. */
  readonly isCard: boolean;
}

const ONLINE: MethodRules = { currency: null, voucherDays: null, needsPhone: false, isCard: false };

/** A new payment method does not compile without its row. */
export const METHOD_RULES: Readonly<Record<PaymentMethod, MethodRules>> = {
  PIX: { ...ONLINE, currency: 'BRL' },
  CREDIT_CARD: { ...ONLINE, isCard: true },
  MBWAY: { ...ONLINE, needsPhone: true },
  MULTIBANCO: { ...ONLINE, voucherDays: 3 },
  BOLETO: { ...ONLINE, currency: 'BRL', voucherDays: 3 },
  CRYPTO: ONLINE,
};

/** Returns whether a sale was paid with a card. */
export function isPaidWithCard({ paidWith }: { readonly paidWith: PaymentMethod | null }): boolean {
  return paidWith !== null && METHOD_RULES[paidWith].isCard;
}
