import { ApiProperty } from '@nestjs/swagger';
import {
  CursorListOf,
  EnumOf,
  Integer,
  NullableInteger,
  NullableText,
  NullableTime,
  Text,
  Time,
} from '../../core/http/index.js';
import { CLOSED_REASONS, type ClosedReason, LINK_STATUSES, type LinkStatus } from '../payment-link.js';
import { ASKABLE, type Askable } from '../payment-link.entity.js';

export class PaymentLinkBody {
  @Text('`pl_<uuid>`.', 'pl_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @EnumOf('Kind of object.', ['payment_link']) object!: 'payment_link';
  @Text('The page for payers.', 'https://pay.example.com/pay/7QkTn4vXw2Rb') url!: string;
  @Text('PNG of a QR code that opens the page.', 'https://pay.example.com/pay/7QkTn4vXw2Rb/qr.png')
  qr_code_url!: string;
  @EnumOf('Whether it takes payments.', LINK_STATUSES) status!: LinkStatus;
  @ApiProperty({
    description: '`ended`: you ended it; `full`: it was paid as often as allowed; `expired`. Null while it is active.',
    enum: [...CLOSED_REASONS, null],
    type: String,
    nullable: true,
    example: null,
  })
  ended_reason!: ClosedReason | null;
  @Text('What is sold.', 'Coffee of the month') name!: string;
  @NullableText('What is sold, as the page shows it.', 'Half a kilo, freshly roasted.') description!: string | null;
  @NullableText('Address of the picture.', 'https://pay.example.com/pay/7QkTn4vXw2Rb/picture') picture!: string | null;
  @NullableInteger('Cents. Null: the payer chooses.', 5000) amount!: number | null;
  @NullableInteger('Cents. The least that the payer may choose.', 1000) amount_min!: number | null;
  @NullableInteger('Cents. The most that the payer may choose.', 9000) amount_max!: number | null;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @NullableInteger('Largest number of payments. Null: no limit.', 50) max_payments!: number | null;
  @NullableTime('Until when it may be paid. Null: without end.') expires_at!: string | null;
  @ApiProperty({ description: 'What the payer must enter.', isArray: true, enum: [...ASKABLE], example: ['name'] })
  ask!: Askable[];
  @NullableText('A question to the payer.', 'Whole beans or ground?') question!: string | null;
  @NullableText('Where the payer goes after the payment.', 'https://shop.example/thanks') return_url!: string | null;
  @ApiProperty({ description: 'As sent.', type: 'object', additionalProperties: true })
  metadata!: Record<string, unknown>;
  @Integer('Payments that were credited, also those that were refunded or disputed later.', 12) paid_count!: number;
  @Integer('Their sum in cents.', 60000) paid_amount!: number;
  @Time('UTC.') created_at!: string;
  @Time('When you last changed it, UTC.') updated_at!: string;
}

export class PaymentLinkListBody extends CursorListOf(PaymentLinkBody, 'pl_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') {}
