import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { EnumOf, Integer, Text, Time } from '../../core/http/index.js';
import { ChargeBody, PUBLIC_STATUSES, type PublicStatus } from '../../charges/index.js';
import { PaymentDetailBody } from '../../payments/index.js';
import { PAYMENT_METHODS } from '../../transactions/index.js';
import { SANDBOX_EVENTS } from './simulate.dto.js';

/** A payment without Pix, shown in the form of a charge, but without code and checkout. */
export class SandboxChargeBody {
  @Text('`ch_<uuid>`.', 'ch_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @EnumOf('Kind of object.', ['charge']) object!: 'charge';
  @Integer('Smallest unit.', 1990) amount!: number;
  @Text('Currency code.', 'EUR') currency!: string;
  @EnumOf('Public status.', PUBLIC_STATUSES) status!: PublicStatus;
  @EnumOf(
    'How it was or may be paid.',
    PAYMENT_METHODS.filter((method) => method !== 'PIX').map((method) => method.toLowerCase()),
  )
  payment_method!: string;
  @ApiProperty({ description: 'As supplied.', type: 'object', additionalProperties: true })
  metadata!: Record<string, unknown>;
  @Time('UTC.') created_at!: string;
  @ApiPropertyOptional({
    description: 'The sum of its refunds that have not failed. Only when there is one.',
    type: 'integer',
    example: 990,
  })
  amount_refunded?: number;
}

@ApiExtraModels(ChargeBody, SandboxChargeBody)
export class SandboxEventBody {
  @EnumOf('Kind of object.', ['sandbox_event']) object!: 'sandbox_event';
  @EnumOf('As asked for.', SANDBOX_EVENTS) event!: string;
  @ApiProperty({
    description: 'The charge after it; of a payment without Pix what is like a charge.',
    oneOf: [{ $ref: getSchemaPath(ChargeBody) }, { $ref: getSchemaPath(SandboxChargeBody) }],
  })
  charge!: ChargeBody | SandboxChargeBody;
}

export class SandboxPaymentEventBody {
  @EnumOf('Kind of object.', ['sandbox_event']) object!: 'sandbox_event';
  @EnumOf('As asked for.', SANDBOX_EVENTS) event!: string;
  @ApiProperty({ description: 'The payment after it.', type: PaymentDetailBody }) payment!: PaymentDetailBody;
}
