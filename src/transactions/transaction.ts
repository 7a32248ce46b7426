import { nullsOf } from '../core/database/index.js';
import type { Violation } from '../core/errors/index.js';
import type { Mode } from '../core/mode.js';
import { returnUrlProblem } from '../core/net/index.js';
import { type Failure, type MedBlock, type Metadata, Transaction } from './transaction.entity.js';

/** `metadata.med`: docs/contract.md#the-charge-object. */
export interface ShownMed extends Omit<MedBlock, 'payerSealed'> {
  readonly payerName?: string;
  readonly payerDocument?: string;
  /** Forbids the sealed payer, so that it cannot be shown by mistake. */
  readonly payerSealed?: never;
}

export type { Failure, MedBlock, Metadata, Transaction };

/** Initial values of a new transaction. */
export const UNTOUCHED = { ...nullsOf(Transaction), refundsAmount: 0 };

/** A transaction as its merchant may see it; serializers take this type. */
export type ShownTransaction = Omit<Transaction, 'med'> & { readonly med: ShownMed | null };

/** Keys that the service itself writes: docs/contract.md#metadata-and-texts. */
const RESERVED_METADATA = new Set(['med', 'failure']);

/** Returns whether a metadata key belongs to the merchant and not to the service. */
export function isPublicKey(key: string): boolean {
  return !key.startsWith('_') && !RESERVED_METADATA.has(key);
}

/** Returns the merchant's own metadata, without the keys of the service. */
export function publicMetadata(metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => isPublicKey(key)));
}

export function isPix(transaction: Pick<Transaction, 'paymentMethods'>): boolean {
  return transaction.paymentMethods.includes('PIX');
}

/** Returns `metadata.returnUrl`, the page for the customer's return; null unless it is a safe URL. */
export function returnUrlOf({ metadata, mode }: Pick<Transaction, 'metadata' | 'mode'>): URL | null {
  const { returnUrl } = metadata;
  return typeof returnUrl === 'string' && returnUrlProblem(returnUrl, mode) === null ? new URL(returnUrl) : null;
}

/** Validates `metadata.returnUrl` of a new charge or payment. A blank value counts as left out. */
export function returnUrlViolations(metadata: Metadata, mode: Mode): Violation[] {
  const { returnUrl } = metadata;
  if (returnUrl == null || (typeof returnUrl === 'string' && returnUrl.trim() === '')) return [];
  const problem = typeof returnUrl === 'string' ? returnUrlProblem(returnUrl, mode) : 'must be a text';
  return problem === null ? [] : [{ param: 'metadata.returnUrl', code: 'invalid', message: problem }];
}

/**
 * Returns whether the acquirer made a code or slip for at least one method. If it refused all methods, artefacts are
 * `{}`.
 */
export function wasIssued({ brCode, artefacts }: Pick<Transaction, 'brCode' | 'artefacts'>): boolean {
  return brCode !== null || Object.keys(artefacts ?? {}).length > 0;
}

/**
 * Returns whether a code or slip may be shown. Money for a cancelled sale would be sent back, so its codes are hidden.
 */
export function mayShowPayable({ status }: Pick<Transaction, 'status'>): boolean {
  return status !== 'CANCELLED';
}

/**
 * Returns whether the charge holds a Pix of an unknown payer under the payer lock; an operator decides about the money.
 */
export function isHeld(transaction: Transaction): boolean {
  return transaction.status === 'PROCESSING' && transaction.expectedPayerTaxId !== null;
}

/**
 * Returns whether the transaction waits for its payer, or for the bank of a card in flight. Only open transactions
 * expire.
 */
export function isOpen(transaction: Transaction): boolean {
  return transaction.status === 'WAITING_PAYMENT' || (transaction.status === 'PROCESSING' && !isHeld(transaction));
}

/** Returns whether the time for paying is over, to the millisecond; `expiresAt` itself counts as over. */
export function isPastExpiry(transaction: Transaction, at: Date): boolean {
  return transaction.expiresAt !== null && at.getTime() >= transaction.expiresAt.getTime();
}

export function failureOf(
  transaction: Pick<Transaction, 'createdAt' | 'expiresAt'>,
  cause: { reason: string; providerErrorCode: string; at: Date },
): Failure {
  const { createdAt, expiresAt } = transaction;
  return {
    reason: cause.reason,
    providerErrorCode: cause.providerErrorCode,
    ...(expiresAt === null ? {} : { ttlSeconds: Math.round((expiresAt.getTime() - createdAt.getTime()) / 1000) }),
    at: cause.at.toISOString(),
  };
}

export const EXPIRY_REASON = 'The charge expired without payment.';

export function expiryFailure(transaction: Pick<Transaction, 'createdAt' | 'expiresAt'>, at: Date): Failure {
  return failureOf(transaction, { reason: EXPIRY_REASON, providerErrorCode: 'expired', at });
}

/**
 * Returns the transaction as it is at `now`. An open transaction past its expiry reads as expired before the sweeper
 * has written that, with the failure block that the sweeper will write (docs/contract.md#expiry).
 */
export function asOf(transaction: Transaction, now: Date): Transaction {
  if (!isOpen(transaction)) return transaction;
  if (transaction.expiresAt === null || !isPastExpiry(transaction, now)) return transaction;
  return { ...transaction, status: 'EXPIRED', failure: expiryFailure(transaction, transaction.expiresAt) };
}

type Dates = 'expiresAt' | 'paidAt' | 'createdAt' | 'updatedAt';

/** A transaction as an event carries it: dates as ISO 8601 texts. */
export type TransactionSnapshot = Omit<Transaction, Dates> & {
  readonly [K in Dates]: Transaction[K] extends Date ? string : string | null;
};

export function toSnapshot(transaction: Transaction): TransactionSnapshot {
  return {
    ...transaction,
    expiresAt: transaction.expiresAt?.toISOString() ?? null,
    paidAt: transaction.paidAt?.toISOString() ?? null,
    createdAt: transaction.createdAt.toISOString(),
    updatedAt: transaction.updatedAt.toISOString(),
  };
}

export function fromSnapshot(snapshot: TransactionSnapshot): Transaction {
  return {
    ...snapshot,
    // Snapshots written by older versions lack these fields.
    med: (snapshot as Partial<TransactionSnapshot>).med ?? null,
    returns: (snapshot as Partial<TransactionSnapshot>).returns ?? null,
    refundsAmount: (snapshot as Partial<TransactionSnapshot>).refundsAmount ?? 0,
    expiresAt: snapshot.expiresAt === null ? null : new Date(snapshot.expiresAt),
    paidAt: snapshot.paidAt === null ? null : new Date(snapshot.paidAt),
    createdAt: new Date(snapshot.createdAt),
    updatedAt: new Date(snapshot.updatedAt),
  };
}
