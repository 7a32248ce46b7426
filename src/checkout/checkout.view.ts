import type { Account } from '../accounts/index.js';
import { type PublicStatus, publicStatus } from '../charges/index.js';
import type { Amount } from '../core/money/index.js';
import type { Transaction } from '../transactions/index.js';

/**
 * All that the page may show. Whoever has the address sees it, so this list is the privacy of the payer: no name,
 * document, e-mail or phone of the customer, no metadata, no fees, no end-to-end id.
 */
export interface CheckoutView {
  /** Raw, without `ch_`. */
  readonly id: string;
  readonly status: PublicStatus;
  readonly merchant: string;
  /** Cents. */
  readonly amount: Amount;
  /** Whether this is a sandbox charge. */
  readonly test: boolean;
  /** Only while it can be paid: a code that is over invites a Pix that has to be sent back. */
  readonly brCode: string | null;
  readonly expiresAt: Date | null;
  readonly paidAt: Date | null;
  /** The server's clock; the payer's may be wrong, and the countdown runs on this one. */
  readonly now: Date;
}

export interface CheckoutStatus {
  readonly status: PublicStatus;
  /** ISO 8601, null while unpaid. */
  readonly paid_at: string | null;
  /** ISO 8601, null when the charge does not expire. */
  readonly expires_at: string | null;
}

export function toCheckoutView(transaction: Transaction, account: Pick<Account, 'name'>, now: Date): CheckoutView {
  const status = publicStatus(transaction.status);
  return {
    id: transaction.id,
    status,
    merchant: account.name,
    amount: transaction.amount,
    test: transaction.mode === 'test',
    brCode: status === 'pending' ? transaction.brCode : null,
    expiresAt: transaction.expiresAt,
    paidAt: transaction.paidAt,
    now,
  };
}

export function toCheckoutStatus(transaction: Transaction): CheckoutStatus {
  return {
    status: publicStatus(transaction.status),
    paid_at: transaction.paidAt?.toISOString() ?? null,
    expires_at: transaction.expiresAt?.toISOString() ?? null,
  };
}
