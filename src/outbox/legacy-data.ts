import { ApiPropertyOptional } from '@nestjs/swagger';
import { Integer, NullableText, Text, Time } from '../core/http/index.js';
import type { Amount } from '../core/money/index.js';

/** `data` that all legacy events share: docs/contract.md#legacy-envelope. */
export class LegacyData {
  @Text('`<prefix>_<uuid>` of the object.', 'tx_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') transactionId!: string;
  @Integer('Smallest unit.', 1990) amount!: Amount;
  @Text('Status after the event.', 'PAID') status!: string;
  @NullableText('Status before the event; null: it was created.', 'PENDING') previousStatus!: string | null;
  @ApiPropertyOptional({ description: 'Method. In PAID and APPROVED only, as the fees.', example: 'CREDIT_CARD' })
  paidWith?: string;
  @ApiPropertyOptional({ description: 'Fee of the provider, smallest unit.', type: 'integer', example: 10 })
  providerFee?: Amount;
  @ApiPropertyOptional({ description: 'Fee of the platform, smallest unit.', type: 'integer', example: 15 })
  platformFee?: Amount;
  @ApiPropertyOptional({ description: 'Amount without fees.', type: 'integer', example: 1965 }) netAmount?: Amount;
  @Time('When it happened.') occurredAt!: string;
}

/** Money that moved, as a legacy event shows it. Null: not known. */
export interface LegacySubject {
  readonly transactionId: string;
  readonly amount: Amount;
  readonly status: string;
  readonly previousStatus: string | null;
  readonly paidWith: string | null;
  readonly providerFee: Amount | null;
  readonly platformFee: Amount | null;
  readonly netAmount: Amount | null;
}

/** Serializes the shared fields. Method and fees are shown in PAID and APPROVED only. */
export function legacyData(subject: LegacySubject, occurredAt: Date): LegacyData {
  const { transactionId, amount, status, previousStatus, paidWith, providerFee, platformFee, netAmount } = subject;
  const isPaid = status === 'PAID' || status === 'APPROVED';
  return {
    transactionId,
    amount,
    status,
    previousStatus,
    ...(isPaid && paidWith !== null ? { paidWith } : {}),
    ...(isPaid && providerFee !== null ? { providerFee } : {}),
    ...(isPaid && platformFee !== null ? { platformFee } : {}),
    ...(isPaid && netAmount !== null ? { netAmount } : {}),
    occurredAt: occurredAt.toISOString(),
  };
}
