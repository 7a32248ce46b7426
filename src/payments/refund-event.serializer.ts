import type { Amount } from '../core/money/index.js';
import type { DomainEvent } from '../outbox/index.js';
import type { RefundEventType } from '../transactions/index.js';
import { legacyPayment, type LegacyPaymentData } from './payment-event.serializer.js';

/** `data` of `payment.refunded`: the payment's data in any legacy event, and the refund that moved. */
export interface LegacyRefundData extends LegacyPaymentData {
  refundId: string;
  refundAmount: Amount;
  refundStatus: string;
  refundReason: string | null;
  refundFailureReason: string | null;
}

export function legacyRefund(event: DomainEvent<RefundEventType>): LegacyRefundData {
  const { refund } = event.data;
  return {
    ...legacyPayment(event),
    refundId: refund.id,
    refundAmount: refund.amount,
    refundStatus: refund.status,
    refundReason: refund.reason,
    refundFailureReason: refund.failureReason,
  };
}
