import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, NullableText, Text, Time } from '../../core/http/index.js';
import { PUBLIC_PAYOUT_STATUSES, type PublicPayoutStatus } from '../payout-status.js';
import { ShownDestinationBody } from './payout-destination.body.js';

const END_TO_END_ID = 'E00000000202611211530abcDEF12345';

export class PayoutReceiverBody extends ShownDestinationBody {
  @ApiPropertyOptional({
    description: 'Of the saved destination; absent for one that was sent with the payout.',
    example: 'pd_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  id?: string;
}

export class PayoutSettlementBody {
  @ApiPropertyOptional({ description: 'Of the Pix, once paid.', example: END_TO_END_ID }) end_to_end_id?: string;
}

export class PayoutFailureBody {
  @Text('Code of the reason.', 'destination_invalid') reason!: string;
  @Time('When, UTC.') at!: string;
}

export class PayoutApprovalBody {
  @EnumOf('A second person has to approve it at the dashboard.', ['waiting']) status!: string;
}

export class PayoutReturnBody {
  @Integer('Cents that came back.', 990) amount!: number;
  @NullableText('Of the Pix that came back.', 'D00000000202611211530abcDEF12345') end_to_end_id!: string | null;
  @Text('Id of the return at the PSP.', 'D00000000202611211530abcDEF12345') return_id!: string;
  @NullableText('Reason in the code of the PSP.', 'AC03') reason!: string | null;
  @Time('When, UTC.') at!: string;
}

export class PayoutBody {
  @Text('`po_<uuid>`.', 'po_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @EnumOf('Kind of object.', ['payout']) object!: 'payout';
  @Integer('Cents.', 150_000) amount!: number;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @EnumOf('Public status.', PUBLIC_PAYOUT_STATUSES) status!: PublicPayoutStatus;
  @EnumOf('How it is paid.', ['pix']) payment_method!: 'pix';
  @Integer('Cents that the payout costs beside its amount.', 0) fee!: number;
  @ApiProperty({ description: 'Receiver, masked.', type: PayoutReceiverBody }) destination!: PayoutReceiverBody;
  @ApiProperty({ description: 'Empty until paid.', type: PayoutSettlementBody }) settlement!: PayoutSettlementBody;
  @ApiProperty({
    description: 'As supplied, with `description` folded in.',
    type: 'object',
    additionalProperties: true,
  })
  metadata!: Record<string, unknown>;
  @Time('UTC.') created_at!: string;
  @ApiPropertyOptional({
    description:
      'When a pending payout may be sent, UTC: the end of the wait for its new destination, or the moment of its approval.',
    format: 'date-time',
    example: '2026-11-22T12:00:00.000Z',
  })
  send_after?: string;
  @ApiPropertyOptional({ description: 'Only while it waits for a second person.', type: PayoutApprovalBody })
  approval?: PayoutApprovalBody;
  @ApiPropertyOptional({
    description:
      'Only while it is processing. `sent`: the bank works on it; `review`: the bank examines it; `unknown`: the bank has not answered yet, or its answer cannot be read; `operator`: an operator decides.',
    enum: ['sent', 'review', 'unknown', 'operator'],
  })
  processing_reason?: string;
  @ApiPropertyOptional({ description: 'Only once it failed or was cancelled.', type: PayoutFailureBody })
  failure?: PayoutFailureBody;
  @ApiPropertyOptional({ description: 'Cents that came back. Only when something did.', type: 'integer', example: 990 })
  amount_returned?: number;
  @ApiPropertyOptional({ description: 'Parts that came back. Only when something did.', type: [PayoutReturnBody] })
  returns?: PayoutReturnBody[];
}

export class PayoutListBody extends CursorListOf(PayoutBody, 'po_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') {}
