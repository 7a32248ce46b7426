import type { Amount } from '../core/money/index.js';
import type { DomainEvent } from '../outbox/index.js';
import type { RefundEventType, TransactionEventType } from '../transactions/index.js';

/** `data` of a legacy event. Fees only where money was credited. */
export interface LegacyPaymentData {
  transactionId: string;
  paymentId: string;
  /** The merchant's own id of its user, where one was given. */
  customerId?: string;
  amount: Amount;
  status: string;
  previousStatus: string | null;
  paidWith?: string;
  providerFee?: Amount;
  platformFee?: Amount;
  netAmount?: Amount;
  occurredAt: string;
}

export function legacyPayment(event: DomainEvent<TransactionEventType | RefundEventType>): LegacyPaymentData {
  const { transaction: t, previousStatus } = event.data;
  const settled = t.status === 'PAID' || t.status === 'APPROVED';
  return {
    transactionId: `tx_${t.id}`,
    paymentId: t.id,
    ...(t.customerId === null ? {} : { customerId: t.customerId }),
    amount: t.amount,
    status: t.status,
    previousStatus,
    ...(settled && t.paidWith !== null ? { paidWith: t.paidWith } : {}),
    ...(settled && t.providerFee !== null ? { providerFee: t.providerFee } : {}),
    ...(settled && t.platformFee !== null ? { platformFee: t.platformFee } : {}),
    ...(settled && t.netAmount !== null ? { netAmount: t.netAmount } : {}),
    occurredAt: event.occurredAt.toISOString(),
  };
}
