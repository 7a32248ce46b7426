import { TRANSACTION_STATUSES, type TransactionStatus } from '../transactions/index.js';

/** Public statuses of a charge: docs/contract.md#transaction-status. */
export const PUBLIC_STATUSES = [
  'pending',
  'processing',
  'paid',
  'failed',
  'expired',
  'cancelled',
  'refunded',
  'disputed',
] as const;

export type PublicStatus = (typeof PUBLIC_STATUSES)[number];

const PUBLIC: Readonly<Record<TransactionStatus, PublicStatus>> = {
  PENDING: 'pending',
  WAITING_PAYMENT: 'pending',
  PROCESSING: 'processing',
  PAID: 'paid',
  APPROVED: 'paid',
  REFUSED: 'failed',
  CANCELLED: 'cancelled',
  EXPIRED: 'expired',
  REFUNDED: 'refunded',
  CHARGEBACK: 'disputed',
  DISPUTE: 'disputed',
};

export function publicStatus(status: TransactionStatus): PublicStatus {
  return PUBLIC[status];
}

/** Every transaction status that reads as `status`, for filters. */
export function transactionStatusesOf(status: PublicStatus): TransactionStatus[] {
  return TRANSACTION_STATUSES.filter((candidate) => PUBLIC[candidate] === status);
}
