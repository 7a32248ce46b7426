import { Integer, NullableText, Text } from '../core/http/index.js';
import type { Amount } from '../core/money/index.js';
import type { DomainEvent } from '../outbox/index.js';
import type { RefundEventType } from '../transactions/index.js';
import { legacyPayment, LegacyPaymentData } from './payment-event.serializer.js';

/** `data` of `payment.refunded`: the payment's data in any legacy event, and the refund that moved. */
export class LegacyRefundData extends LegacyPaymentData {
  @Text('Id of the refund.', '019aa0f0-9a01-7b8c-8d2e-5f6071829304') refundId!: string;
  @Integer('Amount of the refund, smallest unit.', 990) refundAmount!: Amount;
  @Text('Status of the refund.', 'REFUNDED') refundStatus!: string;
  @NullableText('As the merchant supplied it.', 'Article returned') refundReason!: string | null;
  @NullableText('Why the refund failed; null unless it failed.', null) refundFailureReason!: string | null;
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
