import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';
const TIME = { format: 'date-time', example: '2026-11-21T12:00:00.000Z' };

export class ReviewAccountBody {
  @ApiProperty({ description: 'Id of the account.', example: '019aa0f0-0000-7000-8000-000000000001' }) id!: string;
  @ApiProperty({ description: 'Name of the merchant.', example: 'Padaria São João' }) name!: string;
}

export class ReviewBody {
  @ApiProperty({ description: 'Id of the review.', example: ID }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['review'] }) object!: string;
  @ApiProperty({ description: '`pending` until an operator has decided.', enum: ['pending', 'accepted', 'returned'] })
  status!: 'pending' | 'accepted' | 'returned';
  @ApiProperty({ description: 'Whose charge was paid.', type: ReviewAccountBody }) account!: ReviewAccountBody;
  @ApiProperty({ description: 'World it belongs to.', enum: ['test', 'live'] }) mode!: Mode;
  @ApiProperty({ description: 'The charge.', example: `ch_${ID}` }) charge_id!: string;
  @ApiProperty({ description: 'Smallest unit.', type: 'integer', example: 1990 }) amount!: number;
  @ApiProperty({ description: 'ISO 4217.', example: 'BRL' }) currency!: string;
  @ApiProperty({ description: 'Who may pay.', type: String, nullable: true, example: '52998224725' })
  expected_payer_tax_id!: string | null;
  @ApiProperty({
    description: 'Who paid, masked; null when the bank did not say.',
    type: String,
    nullable: true,
    example: '***.982.247-**',
  })
  reported_payer_tax_id!: string | null;
  @ApiProperty({ description: 'Why it is held.', type: String, nullable: true, example: 'payer_unknown' })
  reason!: string | null;
  @ApiProperty({ description: 'Who holds the money.', example: 'sandbox' }) acquirer!: string;
  @ApiProperty({ description: 'Of the Pix.', example: 'E00000000202611211530abcDEF12345' }) end_to_end_id!: string;
  @ApiProperty({ description: 'When it was paid, UTC.', ...TIME }) settled_at!: string;
  @ApiProperty({ description: 'Since when it is held, UTC.', ...TIME }) created_at!: string;
  @ApiProperty({ description: 'When it was decided, UTC.', type: String, nullable: true, ...TIME })
  reviewed_at!: string | null;
  @ApiProperty({ description: 'Id of the operator who decided.', type: String, nullable: true, example: ID })
  reviewed_by!: string | null;
}

export class ReviewListBody extends CursorListOf(ReviewBody) {}

export class UnmatchedPixBody {
  @ApiProperty({ description: 'Id of the entry.', example: ID }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['unmatched_pix'] }) object!: string;
  @ApiProperty({ description: 'Cents.', type: 'integer', example: 1990 }) amount!: number;
  @ApiProperty({ description: 'Who holds the money.', example: 'sandbox' }) acquirer!: string;
  @ApiProperty({ description: 'Of the Pix.', example: 'E00000000202611211530abcDEF12345' }) end_to_end_id!: string;
  @ApiProperty({
    description: 'What it claims to pay; null for a Pix without.',
    type: String,
    nullable: true,
    example: '7d9f0335b1d24c9f8a6e5c3b2a190f8e',
  })
  txid!: string | null;
  @ApiProperty({
    description:
      'The charge that it did not pay, where it could not go back to its payer by itself; null when it matches no charge.',
    type: String,
    nullable: true,
    example: `ch_${ID}`,
  })
  charge_id!: string | null;
  @ApiProperty({
    description: 'Why it did not pay the charge; null when there is none.',
    type: String,
    nullable: true,
    example: 'late',
  })
  reason!: string | null;
  @ApiProperty({
    description: 'Who paid, masked; null when the bank did not say.',
    type: String,
    nullable: true,
    example: '***.982.247-**',
  })
  reported_payer_tax_id!: string | null;
  @ApiProperty({
    description: 'Whose money the acquirer keeps; null when no account has the connection.',
    type: String,
    nullable: true,
    example: ID,
  })
  account_id!: string | null;
  @ApiProperty({
    description: 'Why the bank has refused to send it back; null where it has not.',
    type: String,
    nullable: true,
    example: 'AC03',
  })
  failure_reason!: string | null;
  @ApiProperty({
    description: 'The correction of it that waits for a second operator.',
    type: String,
    nullable: true,
    example: ID,
  })
  correction_id!: string | null;
  @ApiProperty({ description: 'When it was paid, UTC.', ...TIME }) settled_at!: string;
  @ApiProperty({ description: 'When it was recorded, UTC.', ...TIME }) created_at!: string;
}

export class UnmatchedPixListBody extends CursorListOf(UnmatchedPixBody) {}

export class UnreadableBody {
  @ApiProperty({ description: 'Id of the entry.', example: ID }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['unreadable'] }) object!: string;
  @ApiProperty({ description: 'What it is.', enum: ['pix', 'charge', 'payment', 'order', 'dispute', 'return'] })
  kind!: string;
  @ApiProperty({ description: 'Who has it.', example: 'pix-api:019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' })
  acquirer!: string;
  @ApiProperty({
    description:
      'What the acquirer is asked by: of a Pix its end-to-end id, of a charge its txid, of a dispute `<end-to-end id>/<return id>`. A charge is here when it, or what has paid it, cannot be read; it does not expire before that can be.',
    example: 'E00000000202611211530abcDEF12345',
  })
  reference!: string;
  @ApiProperty({ description: 'When it was first seen that it cannot be read, UTC.', ...TIME })
  unreadable_since!: string;
  @ApiProperty({ description: 'When the service was first told of it, UTC.', ...TIME }) created_at!: string;
}

export class UnreadableListBody extends CursorListOf(UnreadableBody) {}
