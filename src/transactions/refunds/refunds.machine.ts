/** Source: docs/contract.md#refund-status. */
export const REFUND_STATUSES = ['PENDING', 'IN_PROGRESS', 'REFUNDED', 'FAILED'] as const;

export type RefundStatus = (typeof REFUND_STATUSES)[number];

/** Events that move a refund. */
export type RefundTrigger =
  /** The acquirer is about to be called: from here on money may have moved. */
  | 'sent'
  /** The payment was disputed before the acquirer was called. */
  | 'stopped'
  /** The acquirer reports that the money is on the payer's side. */
  | 'returned'
  /** The acquirer reports that the money is not on the payer's side and will not be. */
  | 'refused';

export interface RefundMove {
  readonly from: RefundStatus;
  readonly to: RefundStatus;
}

/**
 * The legal moves. Only a PENDING refund certainly has not reached the acquirer. An IN_PROGRESS refund ends by the
 * acquirer's answer. If a dispute has taken its money, it also ends when the acquirer still does not know it (`ask` of
 * `ReturnCalls`).
 */
export const REFUND_MOVES: Readonly<Record<RefundTrigger, RefundMove>> = {
  sent: { from: 'PENDING', to: 'IN_PROGRESS' },
  stopped: { from: 'PENDING', to: 'FAILED' },
  returned: { from: 'IN_PROGRESS', to: 'REFUNDED' },
  refused: { from: 'IN_PROGRESS', to: 'FAILED' },
};
