import { ApiPropertyOptional } from '@nestjs/swagger';
import { Text } from '../core/http/index.js';
import { type DomainEvent, LegacyData, legacyData } from '../outbox/index.js';
import type { RefundEventType, TransactionEventType } from '../transactions/index.js';

/** `data` of a legacy event of a payment. */
export class LegacyPaymentData extends LegacyData {
  @Text('Bare id of the payment.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') paymentId!: string;
  @ApiPropertyOptional({ description: 'The merchant’s own id of its user, where one was given.', example: 'user-7' })
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
