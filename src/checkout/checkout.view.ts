import type { AccountEntity } from '../accounts/index.js';
import type { Artefacts } from '../acquirers/index.js';
import { formatTaxId, maskTaxId, taxIdKind } from '../brazil/index.js';
import { type PublicStatus, publicStatus } from '../charges/index.js';
import { DAY_MS } from '../core/clock.js';
import type { Amount } from '../core/money/index.js';
import { withoutControls } from '../core/text.js';
import { isPix, type PaymentMethod, returnUrlOf, type Transaction } from '../transactions/index.js';

/** How long a receipt is available after the payment. */
const RECEIPT_MS = 30 * DAY_MS;
const JUST_PAID_MS = 120_000;

export type CheckoutAccount = Pick<AccountEntity, 'name' | 'contactEmail' | 'accent' | 'logo' | 'taxId'>;

/** A Pix that was returned. */
export interface Returned {
  readonly amount: Amount;
  readonly reason: NonNullable<Transaction['returns']>[number]['reason'];
  readonly endToEndId: string;
  readonly at: Date;
}

/** The merchant's appearance on a page. */
export interface Brand {
  readonly merchant: string;
  readonly accent: string | null;
  readonly hasLogo: boolean;
  /** Whether this is a sandbox charge. */
  readonly test: boolean;
}

/**
 * All data that the page may show. Anyone with the address sees it, so this list protects the payer's privacy.
 *
 * Excluded: the customer's name, e-mail and phone, whole documents, fees, and the payment's end-to-end id. From the
 * metadata only the description and the way back are included.
 */
export interface CheckoutView extends Brand {
  /** The id without `ch_`. */
  readonly id: string;
  readonly status: PublicStatus;
  /** Amount in the smallest unit of `currency`. */
  readonly amount: Amount;
  readonly currency: string;
  /** Description of the purchase; null when the merchant gave none. */
  readonly description: string | null;
  /** Masked document of the only person who may pay; null: anybody may. */
  readonly lockedTo: string | null;
  /** Whether Pix is one of the payment's methods. */
  readonly takesPix: boolean;
  /** Only while it can be paid: an expired code invites a Pix that must be returned. */
  readonly brCode: string | null;
  /** Data of the payment methods beside Pix. */
  readonly otherWays: Artefacts;
  readonly expiresAt: Date | null;
  readonly paidAt: Date | null;
  /** Amount that the merchant has refunded or is about to refund. */
  readonly refunded: Amount;
  readonly returns: readonly Returned[];
  /** The merchant's page to which the payer returns. */
  readonly returnUrl: URL | null;
  /** Whether the page leads back by itself; a later visitor wants to read it. */
  readonly isJustPaid: boolean;
  readonly hasReceipt: boolean;
  /** The server's clock, which the countdown uses; the payer's may be wrong. */
  readonly now: Date;
}

/** Data of the receipt, which a payer may show to others: it names the payment, but no person or document. */
export interface ReceiptView extends Brand {
  readonly id: string;
  readonly status: Exclude<PublicStatus, 'pending'>;
  readonly contact: string;
  /** The merchant's CNPJ, or its CPF masked; null when the account has none. */
  readonly taxId: string | null;
  readonly amount: Amount;
  readonly currency: string;
  readonly description: string | null;
  readonly paidAt: Date;
  readonly availableUntil: Date;
  readonly method: PaymentMethod | null;
  /** The end-to-end id of the Pix. */
  readonly reference: string | null;
  readonly refunded: Amount;
}

export interface CheckoutStatus {
  readonly status: PublicStatus;
  /** ISO 8601; null while unpaid. */
  readonly paid_at: string | null;
  /** ISO 8601; null when the charge does not expire. */
  readonly expires_at: string | null;
}

function brandOf({ mode }: Transaction, { name, accent, logo }: CheckoutAccount): Brand {
  return { merchant: name, accent, hasLogo: logo !== null, test: mode === 'test' };
}

function descriptionOf({ metadata }: Transaction): string | null {
  const { description } = metadata;
  const text = typeof description === 'string' ? withoutControls(description).trim() : '';
  return text === '' ? null : text.slice(0, 500);
}

/** The merchant's URL with charge and status appended to its own query, which stays unchanged. */
function wayBackOf(transaction: Transaction, status: PublicStatus): URL | null {
  const url = returnUrlOf(transaction);
  if (url === null) return null;
  const own = url.search === '' ? '?' : `${url.search}&`;
  url.search = `${own}charge_id=ch_${transaction.id}&status=${status}`;
  return url;
}

function hasReceipt({ paidAt }: Transaction, now: Date): boolean {
  return paidAt !== null && now.getTime() - paidAt.getTime() <= RECEIPT_MS;
}

export function toCheckoutView(transaction: Transaction, account: CheckoutAccount, now: Date): CheckoutView {
  const status = publicStatus(transaction.status);
  const isOpen = status === 'pending';
  return {
    ...brandOf(transaction, account),
    id: transaction.id,
    status,
    amount: transaction.amount,
    currency: transaction.currency,
    description: descriptionOf(transaction),
    takesPix: isPix(transaction),
    lockedTo: isOpen && transaction.expectedPayerTaxId !== null ? maskTaxId(transaction.expectedPayerTaxId) : null,
    brCode: isOpen ? transaction.brCode : null,
    otherWays: isOpen ? (transaction.artefacts ?? {}) : {},
    expiresAt: transaction.expiresAt,
    paidAt: transaction.paidAt,
    refunded: transaction.refundsAmount,
    returns: (transaction.returns ?? []).map(({ amount, reason, endToEndId, at }) => ({
      ...{ amount, reason, endToEndId },
      at: new Date(at),
    })),
    returnUrl: wayBackOf(transaction, status),
    isJustPaid: status === 'paid' && now.getTime() - (transaction.paidAt?.getTime() ?? 0) < JUST_PAID_MS,
    hasReceipt: hasReceipt(transaction, now),
    now,
  };
}

/** A CPF is a person's own and is masked, as on bank receipts; a CNPJ is public. */
function shownTaxId({ taxId }: CheckoutAccount): string | null {
  if (taxId === null) return null;
  return taxIdKind(taxId) === 'cpf' ? maskTaxId(taxId) : formatTaxId(taxId);
}

/** @returns null when the transaction is unpaid, or was paid too long ago */
export function toReceiptView(transaction: Transaction, account: CheckoutAccount, now: Date): ReceiptView | null {
  const { id, amount, currency, paidAt, paidWith, endToEndId, refundsAmount } = transaction;
  const status = publicStatus(transaction.status);
  if (status === 'pending' || paidAt === null || !hasReceipt(transaction, now)) return null;
  return {
    ...brandOf(transaction, account),
    ...{ id, status, amount, currency, paidAt },
    availableUntil: new Date(paidAt.getTime() + RECEIPT_MS),
    contact: account.contactEmail,
    taxId: shownTaxId(account),
    description: descriptionOf(transaction),
    method: paidWith,
    reference: endToEndId,
    refunded: refundsAmount,
  };
}

export function toCheckoutStatus(transaction: Transaction): CheckoutStatus {
  return {
    status: publicStatus(transaction.status),
    paid_at: transaction.paidAt?.toISOString() ?? null,
    expires_at: transaction.expiresAt?.toISOString() ?? null,
  };
}
