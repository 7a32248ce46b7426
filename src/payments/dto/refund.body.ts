import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, NullableText, Text, Time } from '../../core/http/index.js';
import { REFUND_STATUSES } from '../../transactions/index.js';
import { REFUND_STRATEGIES } from './refund.dto.js';

export class RefundBody {
  @ApiProperty({ description: 'Of the refund.', format: 'uuid', example: '019aa0f0-9a01-7b8c-8d2e-5f6071829304' })
  id!: string;
  @ApiProperty({
    description: 'Of the refunded payment.',
    format: 'uuid',
    example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  transactionId!: string;
  @Integer('Smallest unit.', 990) amount!: number;
  @Text('Of the payment.', 'BRL') currency!: string;
  @EnumOf('PENDING, then IN_PROGRESS at the provider, then REFUNDED or FAILED.', REFUND_STATUSES) status!: string;
  @NullableText('As supplied.', 'Article returned') reason!: string | null;
  @Time('UTC.') createdAt!: string;
}

export class RefundItemBody extends RefundBody {
  @ApiProperty({
    description: 'Null for a card payment.',
    type: String,
    enum: [...REFUND_STRATEGIES, null],
    nullable: true,
    example: 'cashout',
  })
  strategy!: string | null;
  @NullableText(
    'Of the Pix by which the money goes: of a devolution the one that was paid, of a cashout the new one, null until it is known.',
    'E00000000202611211530abcDEF12345',
  )
  endToEndId!: string | null;
  @NullableText(
    'What the payer’s bank calls a devolution (rtrId); null until it is known.',
    'D00000000202611211531abcDEF12345',
  )
  returnId!: string | null;
  @NullableText(
    '`amount_exceeded`, `destination_invalid`, `insufficient_funds`, `too_late` or `refused` by the provider; `charge_disputed` before it was called. Null unless FAILED.',
    'refused',
  )
  failureReason!: string | null;
  @Time('UTC.', '2026-11-21T12:00:01.000Z') updatedAt!: string;
}

export class RefundListBody {
  @ApiProperty({ description: 'Newest first.', type: [RefundItemBody] }) data!: RefundItemBody[];
  @Integer('How many there are.', 1) total!: number;
}

export class AllRefundsListBody extends CursorListOf(RefundItemBody) {}
