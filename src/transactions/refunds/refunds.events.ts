import { Personal } from '../../core/database/index.js';
import { EventEntity, type NewEvent } from '../../outbox/index.js';
import { type Refund, type RefundSnapshot, toRefundSnapshot } from './refund.js';
import type { RefundTrigger } from './refunds.machine.js';
import { toSnapshot, type Transaction } from '../transaction.js';
import type { TransactionEventData } from '../transaction.events.js';
import type { TransactionStatus } from '../transactions.machine.js';

/** The transaction as it is after the refund's move; `previousStatus` is the same unless the move refunded all of it. */
export interface RefundEventData extends TransactionEventData {
  readonly refund: RefundSnapshot;
}

declare module '../../outbox/index.js' {
  interface DomainEvents {
    'refund.sent': RefundEventData;
    'refund.returned': RefundEventData;
    'refund.failed': RefundEventData;
  }
}

Personal({ path: ['refund', 'reason'], erased: 'with_metadata', empty: null })(EventEntity.prototype, 'data');

export type RefundEventType = 'refund.sent' | 'refund.returned' | 'refund.failed';

/** Each move has its event. */
export const REFUND_EVENT_OF: Readonly<Record<RefundTrigger, RefundEventType>> = {
  sent: 'refund.sent',
  stopped: 'refund.failed',
  returned: 'refund.returned',
  refused: 'refund.failed',
};

/**
 * Builds an event of a refund. The subject is the transaction, whose row every move of a refund locks, so events of one
 * subject come in order.
 */
export function refundEvent(
  type: RefundEventType,
  refund: Refund,
  transaction: Transaction,
  previousStatus: TransactionStatus,
): NewEvent<RefundEventType> {
  return {
    accountId: refund.accountId,
    mode: refund.mode,
    type,
    subjectId: refund.transactionId,
    data: { transaction: toSnapshot(transaction), previousStatus, refund: toRefundSnapshot(refund) },
    occurredAt: refund.updatedAt,
  };
}
