import type { NewEvent } from '../outbox/index.js';
import type { Transaction, TransactionSnapshot } from './transaction.js';
import { toSnapshot } from './transaction.js';
import type { TransactionStatus, Trigger } from './transactions.machine.js';

export interface TransactionEventData {
  readonly transaction: TransactionSnapshot;
  /** Null when it was just created. */
  readonly previousStatus: TransactionStatus | null;
}

declare module '../outbox/index.js' {
  interface DomainEvents {
    'transaction.created': TransactionEventData;
    'transaction.not_issued': TransactionEventData;
    'transaction.paid': TransactionEventData;
    'transaction.returned': TransactionEventData;
    'transaction.held': TransactionEventData;
    'transaction.expired': TransactionEventData;
    'transaction.refused': TransactionEventData;
    'transaction.cancelled': TransactionEventData;
  }
}

export type TransactionEventType =
  | 'transaction.created'
  | 'transaction.not_issued'
  | 'transaction.paid'
  | 'transaction.returned'
  | 'transaction.held'
  | 'transaction.expired'
  | 'transaction.refused'
  | 'transaction.cancelled';

/** Each move has its event. `issued` tells the world that the charge exists. */
export const EVENT_OF: Readonly<Record<Trigger, TransactionEventType>> = {
  issued: 'transaction.created',
  // Nobody was told that it exists, so no public event is made of its end.
  not_issued: 'transaction.not_issued',
  settled: 'transaction.paid',
  settled_by_other_payer: 'transaction.returned',
  settled_by_unknown_payer: 'transaction.held',
  expired: 'transaction.expired',
  refused: 'transaction.refused',
  cancelled: 'transaction.cancelled',
};

/** The last of these that a transaction has tells of the status that it has. */
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
