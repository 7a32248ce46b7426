import type { RefundEventType } from './refunds/refunds.events.js';
import type { TransactionEventType } from './transaction.events.js';
import type { TransactionStatus } from './transactions.machine.js';

/** Groups of events. A status is told by the last event that the transaction has, of each group. */
type Groups = readonly (readonly (TransactionEventType | RefundEventType)[])[];

/** What told of each status. Two groups where two events have, each under public names of its own. */
const EVENTS_OF_STATUS: Readonly<Record<TransactionStatus, Groups>> = {
  // It has no event yet: that comes when the acquirer has answered.
  PENDING: [],
  WAITING_PAYMENT: [['transaction.created', 'transaction.accepted'], ['transaction.issued']],
  // A card in flight, or a Pix that is held.
  PROCESSING: [['transaction.processing', 'transaction.held']],
  // Also after a dispute that was won, or a refund of a part.
  PAID: [['transaction.paid']],
  APPROVED: [['transaction.paid']],
  REFUSED: [['transaction.refused', 'transaction.not_issued']],
  CANCELLED: [['transaction.cancelled']],
  EXPIRED: [['transaction.expired']],
  // The refund that brought the last of it back; or a Pix that was returned without having been credited.
  REFUNDED: [['transaction.refunded'], ['refund.returned', 'transaction.returned']],
  CHARGEBACK: [['transaction.charged_back']],
  // A cardholder's, or a MED.
  DISPUTE: [['transaction.card_disputed', 'transaction.disputed']],
};

/** A status without an event is told by the last event before it: it was paid, or it exists. */
const BEFORE: Groups = [['transaction.paid'], ['transaction.created', 'transaction.accepted'], ['transaction.issued']];

/** What a status is told by when it is resent, the best first (docs/contract.md#resending-a-webhook). */
export function eventsAgain(status: TransactionStatus): Groups {
  return status === 'PENDING' ? [] : [...EVENTS_OF_STATUS[status], ...BEFORE];
}
