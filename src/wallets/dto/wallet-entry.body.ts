import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, NullableText, Text, Time } from '../../core/http/index.js';
import { ENTRY_TYPES, type StatementEntryType } from '../entry-types.js';
import { MERCHANT_BUCKETS, type MerchantBucket } from '../statement.repository.js';

const ID = 'we_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12_2';

export class WalletEntrySourceBody {
  @EnumOf('Kind of object.', ['payment', 'refund', 'med_case', 'payout'])
  object!: 'payment' | 'refund' | 'med_case' | 'payout';
  @Text('Its id.', 'tx_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
}

export class WalletEntryBody {
  @Text('Of this line.', ID) id!: string;
  @EnumOf('Kind of object.', ['wallet_entry']) object!: 'wallet_entry';
  @EnumOf('What moved the money.', ENTRY_TYPES) type!: StatementEntryType;
  @EnumOf('The part of the wallet that it moved in.', MERCHANT_BUCKETS) bucket!: MerchantBucket;
  @Integer('In the smallest unit; negative for what left.', 1990) amount!: number;
  @Integer('Of that bucket after it.', 5970) balance!: number;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @ApiProperty({
    description: 'What it follows from; null for a correction by hand.',
    type: WalletEntrySourceBody,
    nullable: true,
  })
  source!: WalletEntrySourceBody | null;
  @NullableText(
    'The sale that it is about, also where a refund or a case of it is the source.',
    'tx_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  )
  payment_id!: string | null;
  @Text('For people.', 'Payment received, less its fees') description!: string;
  @Time('When, UTC.') created_at!: string;
}

export class WalletEntryListBody extends CursorListOf(WalletEntryBody, ID) {}
