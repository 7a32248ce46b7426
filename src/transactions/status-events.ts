import type { RefundEventType } from './refunds/refunds.events.js';
import type { TransactionEventType } from './transaction.events.js';
import type { TransactionStatus } from './transactions.machine.js';

/** Groups of events. A status is resent by the last event that the transaction has, of each group. */
type Groups = readonly (readonly (TransactionEventType | RefundEventType)[])[];

/** Events that announce each status. If two groups are given, each is sent under public names of its own. */
const EVENTS_OF_STATUS: Readonly<Record<TransactionStatus, Groups>> = {
  // A PENDING transaction has no event yet: the acquirer has not answered.
  PENDING: [],
  WAITING_PAYMENT: [['transaction.created', 'transaction.accepted'], ['transaction.issued']],
  // A card in flight, or a Pix that is held.
  PROCESSING: [['transaction.processing', 'transaction.held']],
  // The status after the payment, and again after a won dispute or a partial refund.
  PAID: [['transaction.paid']],
  APPROVED: [['transaction.paid']],
  REFUSED: [['transaction.refused', 'transaction.not_issued']],
  CANCELLED: [['transaction.cancelled']],
  EXPIRED: [['transaction.expired']],
  // Caused by the refund that returned the last part, or by a Pix that was returned without having been credited.
  REFUNDED: [['transaction.refunded'], ['refund.returned', 'transaction.returned']],
  CHARGEBACK: [['transaction.charged_back']],
  // Opened by a cardholder, or by a MED.
  DISPUTE: [['transaction.card_disputed', 'transaction.disputed']],
};

/** Fallback for a status without an event: the last event before it, that the payment was made or the charge exists. */
const BEFORE: Groups = [['transaction.paid'], ['transaction.created', 'transaction.accepted'], ['transaction.issued']];

/** Returns the events that a resent status may use, the best first (docs/contract.md#resending-a-webhook). */
export function eventsAgain(status: TransactionStatus): Groups {
  return status === 'PENDING' ? [] : [...EVENTS_OF_STATUS[status], ...BEFORE];
}
