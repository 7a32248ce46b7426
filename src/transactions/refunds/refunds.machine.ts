/** Source: docs/contract.md#refund-status. */
export const REFUND_STATUSES = ['PENDING', 'IN_PROGRESS', 'REFUNDED', 'FAILED'] as const;

export type RefundStatus = (typeof REFUND_STATUSES)[number];

/** What can happen to a refund. */
export type RefundTrigger =
  /** The acquirer is about to be called: from here on money may have moved. */
  | 'sent'
  /** The payment was disputed before the acquirer was called. */
  | 'stopped'
  /** The acquirer says that the money is on the payer's side. */
  | 'returned'
  /** The acquirer says that it is not and will not be. */
  | 'refused';

export interface RefundMove {
  readonly from: RefundStatus;
  readonly to: RefundStatus;
}

/**
 * The legal moves. Only PENDING is known not to have reached the acquirer. Once a refund is IN_PROGRESS the acquirer's word
 * ends it, or, where a dispute has taken its money, that the acquirer goes on not to know it (`ask` of `ReturnCalls`).
 */
export const REFUND_MOVES: Readonly<Record<RefundTrigger, RefundMove>> = {
  sent: { from: 'PENDING', to: 'IN_PROGRESS' },
  stopped: { from: 'PENDING', to: 'FAILED' },
  returned: { from: 'IN_PROGRESS', to: 'REFUNDED' },
  refused: { from: 'IN_PROGRESS', to: 'FAILED' },
};
