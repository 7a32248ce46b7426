import { PAYOUT_STATUSES, type PayoutStatus } from './payouts.machine.js';

/** Public statuses of a payout: docs/contract.md#payouts. */
export const PUBLIC_PAYOUT_STATUSES = ['pending', 'processing', 'paid', 'failed', 'cancelled', 'refunded'] as const;
export type PublicPayoutStatus = (typeof PUBLIC_PAYOUT_STATUSES)[number];

const PUBLIC: Readonly<Record<PayoutStatus, PublicPayoutStatus>> = {
  AWAITING: 'pending',
  QUEUED: 'pending',
  SENDING: 'processing',
  PAID: 'paid',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  REFUNDED: 'refunded',
};

export function publicPayoutStatus(status: PayoutStatus): PublicPayoutStatus {
  return PUBLIC[status];
}

/** Every status that reads as `status`, for filters. */
export function payoutStatusesOf(status: PublicPayoutStatus): PayoutStatus[] {
  return PAYOUT_STATUSES.filter((candidate) => PUBLIC[candidate] === status);
}
