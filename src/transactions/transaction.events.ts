import { Personal, personalColumnsOf, Sealed } from '../core/database/index.js';
import { declareEventRules, EventEntity, type NewEvent } from '../outbox/index.js';
import { TransactionEntity } from './transaction.entity.js';
import type { Transaction, TransactionSnapshot } from './transaction.js';
import { toSnapshot } from './transaction.js';
import type { TransactionStatus, Trigger } from './transactions.machine.js';

export interface TransactionEventData {
  readonly transaction: TransactionSnapshot;
  /** Null when it was just created. */
  readonly previousStatus: TransactionStatus | null;
}

/** Data of the event that begins a dispute of a transaction. */
export interface DisputeEventData extends TransactionEventData {
  /** The case as the module `med` shows it; missing in events of an earlier version. */
  readonly case?: DisputeCase;
}

/** The case that disputes a transaction, as merchants see it. */
export interface DisputeCase {
  readonly id: string;
}

declare module '../outbox/index.js' {
  interface DomainEvents {
    'transaction.created': TransactionEventData;
    'transaction.accepted': TransactionEventData;
    'transaction.issued': TransactionEventData;
    'transaction.not_issued': TransactionEventData;
    'transaction.paid': TransactionEventData;
    'transaction.returned': TransactionEventData;
    'transaction.refunded': TransactionEventData;
    'transaction.held': TransactionEventData;
    'transaction.expired': TransactionEventData;
    'transaction.refused': TransactionEventData;
    'transaction.cancelled': TransactionEventData;
    'transaction.processing': TransactionEventData;
    'transaction.charged_back': DisputeEventData;
    'transaction.card_disputed': DisputeEventData;
    'transaction.disputed': DisputeEventData;
    'transaction.dispute_won': TransactionEventData;
    'transaction.card_dispute_won': TransactionEventData;
  }
}

/**
 * Seals the fields about the payer with the merchant's own words. Keeps the events of a payment that may be resent on
 * request, also after refunds and disputes.
 */
declareEventRules({
  sealed: {
    within: 'transaction',
    fields: Object.fromEntries(
      personalColumnsOf(TransactionEntity)
        .filter(({ erased, path }) => erased !== 'never' && path.length === 0)
        .map(({ property, empty }) => [property, empty]),
    ),
  },
  kept: ['transaction.paid', 'transaction.refunded'],
});
const DISPUTING_PERSON = ['transaction', 'med', 'payerSealed'];
Personal({ path: DISPUTING_PERSON })(EventEntity.prototype, 'data');
Sealed(`'med_payer:' || subject_id`, ...DISPUTING_PERSON)(EventEntity.prototype, 'data');

export type TransactionEventType =
  | 'transaction.created'
  /** Created too, but its Pix code is still to be made. */
  | 'transaction.accepted'
  /** The acquirer has made the Pix code of an accepted payment. */
  | 'transaction.issued'
  | 'transaction.not_issued'
  | 'transaction.paid'
  | 'transaction.returned'
  | 'transaction.refunded'
  | 'transaction.held'
  | 'transaction.expired'
  | 'transaction.refused'
  | 'transaction.cancelled'
  | 'transaction.processing'
  | 'transaction.charged_back'
  | 'transaction.card_disputed'
  | 'transaction.disputed'
  | 'transaction.dispute_won'
  | 'transaction.card_dispute_won';

/** Each move has its event. `issued` announces the charge. */
export const EVENT_OF: Readonly<Record<Trigger, TransactionEventType>> = {
  issued: 'transaction.created',
  // No event announced the charge, so its end has no public event.
  not_issued: 'transaction.not_issued',
  settled: 'transaction.paid',
  approved: 'transaction.paid',
  authenticating: 'transaction.processing',
  settled_by_other_payer: 'transaction.returned',
  settled_by_unknown_payer: 'transaction.held',
  // The outcome of a review has the event that the sale would have had without one.
  review_accepted: 'transaction.paid',
  review_returned: 'transaction.returned',
  refunded: 'transaction.refunded',
  expired: 'transaction.expired',
  refused: 'transaction.refused',
  cancelled: 'transaction.cancelled',
  charged_back: 'transaction.charged_back',
  card_disputed: 'transaction.card_disputed',
  // A MED has events of its own (docs/contract.md#event-names).
  disputed: 'transaction.disputed',
  dispute_won: 'transaction.dispute_won',
  card_dispute_won: 'transaction.card_dispute_won',
};

/** Events of a change of status. */
export const STATUS_EVENTS: readonly TransactionEventType[] = Object.values(EVENT_OF);

export function transactionEvent(
  type: TransactionEventType,
  transaction: Transaction,
  previousStatus: TransactionStatus | null,
): NewEvent<TransactionEventType> {
  return {
    accountId: transaction.accountId,
    mode: transaction.mode,
    type,
    subjectId: transaction.id,
    data: { transaction: toSnapshot(transaction), previousStatus },
    occurredAt: transaction.updatedAt,
  };
}
