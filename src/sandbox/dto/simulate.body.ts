import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { ChargeBody, PUBLIC_STATUSES, type PublicStatus } from '../../charges/index.js';
import { PaymentDetailBody } from '../../payments/index.js';
import { PAYMENT_METHODS } from '../../transactions/index.js';
import { SANDBOX_EVENTS } from './simulate.dto.js';

/** A payment without Pix, told of as far as it is like a charge: there is no code and no checkout. */
export class SandboxChargeBody {
  @ApiProperty({ description: '`ch_<uuid>`.', example: 'ch_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['charge'] }) object!: 'charge';
  @ApiProperty({ description: 'Smallest unit.', type: 'integer', example: 1990 }) amount!: number;
  @ApiProperty({ description: 'Currency code.', example: 'EUR' }) currency!: string;
  @ApiProperty({ description: 'Public status.', enum: PUBLIC_STATUSES }) status!: PublicStatus;
  @ApiProperty({
    description: 'How it was or may be paid.',
    enum: PAYMENT_METHODS.filter((method) => method !== 'PIX').map((method) => method.toLowerCase()),
  })
  payment_method!: string;
  @ApiProperty({ description: 'As supplied.', type: 'object', additionalProperties: true })
  metadata!: Record<string, unknown>;
  @ApiProperty({ description: 'UTC.', format: 'date-time', example: '2026-11-21T12:00:00.000Z' }) created_at!: string;
  @ApiPropertyOptional({
    description: 'The sum of its refunds that have not failed. Only when there is one.',
    type: 'integer',
    example: 990,
  })
  amount_refunded?: number;
}

@ApiExtraModels(ChargeBody, SandboxChargeBody)
export class SandboxEventBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['sandbox_event'] }) object!: 'sandbox_event';
  @ApiProperty({ description: 'As asked for.', enum: SANDBOX_EVENTS }) event!: string;
  @ApiProperty({
    description: 'The charge after it; of a payment without Pix what is like a charge.',
    oneOf: [{ $ref: getSchemaPath(ChargeBody) }, { $ref: getSchemaPath(SandboxChargeBody) }],
  })
  charge!: ChargeBody | SandboxChargeBody;
}

export class SandboxPaymentEventBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['sandbox_event'] }) object!: 'sandbox_event';
  @ApiProperty({ description: 'As asked for.', enum: SANDBOX_EVENTS }) event!: string;
  @ApiProperty({ description: 'The payment after it.', type: PaymentDetailBody }) payment!: PaymentDetailBody;
}
