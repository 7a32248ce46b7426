import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';
import { PAYMENT_METHODS, RETURN_REASONS, RETURN_STATUSES, type ReturnStatus } from '../../transactions/index.js';
import { ReviewAccountBody } from './review.body.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';
const TIME = { format: 'date-time', example: '2026-11-21T12:00:00.000Z' };

export type ShownReturnStatus = Lowercase<ReturnStatus>;

export const SHOWN_RETURN_STATUSES = RETURN_STATUSES.map((status) => status.toLowerCase() as ShownReturnStatus);

export class ReturnedBody {
  @ApiProperty({ description: 'Id of the return.', example: ID }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['returned_payment'] }) object!: string;
  @ApiProperty({
    description:
      '`returned` once the bank has sent it back, which is when the merchant sees it; `failed`: the bank has refused that, and the money is still here.',
    enum: SHOWN_RETURN_STATUSES,
  })
  status!: ShownReturnStatus;
  @ApiProperty({ description: 'Whose charge it was meant for.', type: ReviewAccountBody }) account!: ReviewAccountBody;
  @ApiProperty({ description: 'World it belongs to.', enum: ['test', 'live'] }) mode!: Mode;
  @ApiProperty({
    description: 'The charge that it did not pay; null: it matches none.',
    type: String,
    nullable: true,
    example: `ch_${ID}`,
  })
  charge_id!: string | null;
  @ApiProperty({ description: 'What arrived and goes back, smallest unit.', type: 'integer', example: 1990 })
  amount!: number;
  @ApiProperty({ description: 'ISO 4217.', example: 'BRL' }) currency!: string;
  @ApiProperty({ description: 'Why it goes back.', enum: RETURN_REASONS }) reason!: string;
  @ApiProperty({ description: 'How it was paid.', enum: PAYMENT_METHODS }) method!: string;
  @ApiProperty({
    description: 'Who paid, masked; null when not known.',
    type: String,
    nullable: true,
    example: '***.982.247-**',
  })
  reported_payer_tax_id!: string | null;
  @ApiProperty({ description: 'Who holds the money.', example: 'sandbox' }) acquirer!: string;
  @ApiProperty({
    description: 'Of the Pix; of another method what the acquirer knows it by.',
    example: 'E00000000202611211530abcDEF12345',
  })
  end_to_end_id!: string;
  @ApiProperty({
    description: 'Under which the acquirer was asked for the return.',
    example: 'D7f9c0335b1d24c9f8a6e5c3b2a190f8e',
  })
  return_id!: string;
  @ApiProperty({ description: 'Why the bank refused it; null otherwise.', type: String, nullable: true, example: null })
  failure_reason!: string | null;
  @ApiProperty({ description: 'When it was paid, UTC.', ...TIME }) settled_at!: string;
  @ApiProperty({ description: 'Since when it goes back, UTC.', ...TIME }) created_at!: string;
  @ApiProperty({ description: 'When it had gone back, UTC; null until then.', type: String, nullable: true, ...TIME })
  returned_at!: string | null;
}

export class ReturnedListBody extends CursorListOf(ReturnedBody) {}
