/** Statuses as they are stored. `publicPayoutStatus` maps them to the vocabulary of the contract. */
export const PAYOUT_STATUSES = ['AWAITING', 'QUEUED', 'SENDING', 'PAID', 'FAILED', 'CANCELLED', 'REFUNDED'] as const;

export type PayoutStatus = (typeof PAYOUT_STATUSES)[number];

/** Events that move a payout. */
export type PayoutTrigger =
  /** A second person approves it. */
  | 'approved'
  /** A second person refuses it. */
  | 'disapproved'
  /** The merchant cancels it before anything was sent. */
  | 'cancelled'
  /** The connection cannot send it or the account may not any more, or an operator ends it. Nothing was sent. */
  | 'stopped'
  /** The PSP is about to be called: from here on money may have moved. */
  | 'sent'
  /** The PSP turned the call away whole, and no earlier call can have reached it. */
  | 'put_back'
  /** The PSP reports that the receiver has the money. */
  | 'paid'
  /** The PSP refused the payout, or proves that it does not know it. An operator may decide so too. */
  | 'refused'
  /** The PSP reported the payout as paid and takes that back. */
  | 'revoked'
  /** All of the money came back. */
  | 'returned';

export interface PayoutMove {
  readonly from: readonly PayoutStatus[];
  readonly to: PayoutStatus;
}

/**
 * The legal moves. AWAITING and QUEUED payouts certainly have not reached the PSP. A SENDING payout ends only by what the
 * PSP reports, or by an operator's decision. A partly returned payout stays PAID.
 */
export const PAYOUT_MOVES: Readonly<Record<PayoutTrigger, PayoutMove>> = {
  approved: { from: ['AWAITING'], to: 'QUEUED' },
  disapproved: { from: ['AWAITING'], to: 'CANCELLED' },
  cancelled: { from: ['AWAITING', 'QUEUED'], to: 'CANCELLED' },
  stopped: { from: ['QUEUED'], to: 'FAILED' },
  sent: { from: ['QUEUED'], to: 'SENDING' },
  put_back: { from: ['SENDING'], to: 'QUEUED' },
  paid: { from: ['SENDING'], to: 'PAID' },
  refused: { from: ['SENDING'], to: 'FAILED' },
  revoked: { from: ['PAID'], to: 'FAILED' },
  returned: { from: ['PAID'], to: 'REFUNDED' },
};

/** Returns the status after `trigger`, or null when it cannot happen to a payout in `from`. */
export function nextPayoutStatus(from: PayoutStatus, trigger: PayoutTrigger): PayoutStatus | null {
  const move = PAYOUT_MOVES[trigger];
  return move.from.includes(from) ? move.to : null;
}
