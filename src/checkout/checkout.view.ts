import type { AccountEntity } from '../accounts/index.js';
import type { Artefacts } from '../acquirers/index.js';
import { maskTaxId } from '../brazil/index.js';
import { type PublicStatus, publicStatus } from '../charges/index.js';
import { DAY_MS } from '../core/clock.js';
import type { Amount } from '../core/money/index.js';
import { withoutControls } from '../core/text.js';
import { type PaymentMethod, returnUrlOf, type Transaction } from '../transactions/index.js';

/** A receipt is there for so long after the payment. */
const RECEIPT_MS = 30 * DAY_MS;
const JUST_PAID_MS = 120_000;

export type CheckoutAccount = Pick<AccountEntity, 'name' | 'contactEmail' | 'accent' | 'logo'>;

/** A Pix that was sent back. */
export interface Returned {
  readonly amount: Amount;
  readonly reason: NonNullable<Transaction['returns']>[number]['reason'];
  readonly endToEndId: string;
  readonly at: Date;
}

/** What a page shows of the merchant. */
export interface Brand {
  readonly merchant: string;
  readonly accent: string | null;
  readonly hasLogo: boolean;
  /** Whether this is a sandbox charge. */
  readonly test: boolean;
}

/**
 * All that the page may show. Anyone with the address sees it, so this list is the payer's privacy: no name, e-mail or
 * phone of the customer, no whole document, of the metadata the description and the way back alone, no fees, no
 * end-to-end id of the payment.
 */
export interface CheckoutView extends Brand {
  /** Raw, without `ch_`. */
  readonly id: string;
  readonly status: PublicStatus;
  /** In the smallest unit of `currency`. */
  readonly amount: Amount;
  readonly currency: string;
  /** What is paid for; null where the merchant has not said. */
  readonly description: string | null;
  /** Masked document of the person who must pay; null: anybody may. */
  readonly lockedTo: string | null;
  /** Only while it can be paid: a code that is over invites a Pix that has to be sent back. */
  readonly brCode: string | null;
  /** What the payer needs for methods beside Pix. */
  readonly otherWays: Artefacts;
  readonly expiresAt: Date | null;
  readonly paidAt: Date | null;
  /** What the merchant has given back of the payment, or is about to. */
  readonly refunded: Amount;
  readonly returns: readonly Returned[];
  /** Where the merchant wants its customer back. */
  readonly returnUrl: URL | null;
  /** Whether the payer waits for this page to lead back; a later visitor wants to read it. */
  readonly isJustPaid: boolean;
  readonly hasReceipt: boolean;
  /** The server's clock; the payer's may be wrong, and the countdown runs on this one. */
  readonly now: Date;
}

/** What a payer keeps, and shows others: it names the payment, and no person or document. */
export interface ReceiptView extends Brand {
  readonly id: string;
  readonly contact: string;
  readonly amount: Amount;
  readonly currency: string;
  readonly description: string | null;
  readonly paidAt: Date;
  readonly method: PaymentMethod | null;
  /** The end-to-end id of the Pix. */
  readonly reference: string | null;
  readonly refunded: Amount;
}

export interface CheckoutStatus {
  readonly status: PublicStatus;
  /** ISO 8601, null while unpaid. */
  readonly paid_at: string | null;
  /** ISO 8601, null when the charge does not expire. */
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

/** The merchant's address with the charge and its status behind its own query, which stays as it was written. */
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

/** @returns null for what is not paid, and when it is too long ago */
export function toReceiptView(transaction: Transaction, account: CheckoutAccount, now: Date): ReceiptView | null {
  const { id, amount, currency, paidAt, paidWith, endToEndId, refundsAmount } = transaction;
  if (paidAt === null || !hasReceipt(transaction, now)) return null;
  return {
    ...brandOf(transaction, account),
    ...{ id, amount, currency, paidAt },
    contact: account.contactEmail,
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
