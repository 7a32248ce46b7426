import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';
import { ENTRY_TYPES, type StatementEntryType } from '../entry-types.js';
import { MERCHANT_BUCKETS, type MerchantBucket } from '../statement.repository.js';

const ID = 'we_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12_2';

export class WalletEntrySourceBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['payment', 'refund', 'med_case'] })
  object!: 'payment' | 'refund' | 'med_case';
  @ApiProperty({ description: 'Its id.', example: 'tx_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' }) id!: string;
}

export class WalletEntryBody {
  @ApiProperty({ description: 'Of this line.', example: ID }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['wallet_entry'] }) object!: 'wallet_entry';
  @ApiProperty({ description: 'What moved the money.', enum: ENTRY_TYPES }) type!: StatementEntryType;
  @ApiProperty({ description: 'The part of the wallet that it moved in.', enum: MERCHANT_BUCKETS })
  bucket!: MerchantBucket;
  @ApiProperty({ description: 'In the smallest unit; negative for what left.', type: 'integer', example: 1990 })
  amount!: number;
  @ApiProperty({ description: 'Of that bucket after it.', type: 'integer', example: 5970 }) balance!: number;
  @ApiProperty({ description: 'ISO 4217.', example: 'BRL' }) currency!: string;
  @ApiProperty({
    description: 'What it follows from; null for a correction by hand.',
    type: WalletEntrySourceBody,
    nullable: true,
  })
  source!: WalletEntrySourceBody | null;
  @ApiProperty({
    description: 'The sale that it is about, also where a refund or a case of it is the source.',
    type: String,
    nullable: true,
    example: 'tx_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  payment_id!: string | null;
  @ApiProperty({ description: 'For people.', example: 'Payment received, less its fees' }) description!: string;
  @ApiProperty({ description: 'When, UTC.', format: 'date-time', example: '2026-11-21T12:00:00.000Z' })
  created_at!: string;
}

export class WalletEntryListBody extends CursorListOf(WalletEntryBody, ID) {}
