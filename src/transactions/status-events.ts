import type { RefundEventType } from './refunds.events.js';
import type { TransactionEventType } from './transaction.events.js';
import type { TransactionStatus } from './transactions.machine.js';

/**
 * What tells of each status when it is told again: of each group the last event that the transaction has. Two groups
 * where two events have told of it, each under public names of its own.
 */
export const EVENTS_OF_STATUS: Readonly<
  Record<TransactionStatus, readonly (readonly (TransactionEventType | RefundEventType)[])[]>
> = {
  // Nobody has been told of it yet.
  PENDING: [],
  WAITING_PAYMENT: [['transaction.created', 'transaction.accepted'], ['transaction.issued']],
  // A card in flight, or a Pix that is held: what comes of it is news.
  PROCESSING: [],
  // Also after a dispute that was won, or a refund of a part.
  PAID: [['transaction.paid']],
  APPROVED: [['transaction.paid']],
  REFUSED: [['transaction.refused']],
  CANCELLED: [['transaction.cancelled']],
  EXPIRED: [['transaction.expired']],
  // The refund that brought the last of it back; or a Pix that was returned without having been credited.
  REFUNDED: [['transaction.refunded'], ['refund.returned', 'transaction.returned']],
  CHARGEBACK: [['transaction.charged_back']],
  // Of a Pix it is a MED, whose events are told by their own routes.
  DISPUTE: [['transaction.card_disputed']],
};
