import { type DomainEvent, legacyData, type LegacyData } from '../outbox/index.js';
import type { RefundEventType, TransactionEventType } from '../transactions/index.js';

/** `data` of a legacy event of a payment. */
export interface LegacyPaymentData extends LegacyData {
  paymentId: string;
  /** The merchant's own id of its user, where one was given. */
  customerId?: string;
}

export function legacyPayment(event: DomainEvent<TransactionEventType | RefundEventType>): LegacyPaymentData {
  const { transaction: t, previousStatus } = event.data;
  return {
    ...legacyData({ ...t, transactionId: `tx_${t.id}`, previousStatus }, event.occurredAt),
    paymentId: t.id,
    ...(t.customerId === null ? {} : { customerId: t.customerId }),
  };
}
