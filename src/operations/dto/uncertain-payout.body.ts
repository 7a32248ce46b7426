import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, NullableTime, Text } from '../../core/http/index.js';
import { PayoutBody } from '../../payouts/index.js';

export class UncertainPayoutBody {
  @Text('Id of the payout, bare.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @EnumOf('Kind of object.', ['uncertain_payout']) object!: 'uncertain_payout';
  @Text('Id of the account.', '019aa0f0-0000-7000-8000-000000000001') account_id!: string;
  @EnumOf('Mode.', ['test', 'live']) mode!: 'test' | 'live';
  @Text('Connection that sent it.', 'pix-api:019aa0f0-0000-7000-8000-000000000002') acquirer!: string;
  @Text('Its name at the bank.', '019aa0f07d5c7c3e9b1a2f4d6c8e0a12') send_id!: string;
  @NullableTime('When the bank was first called, UTC; null: the bank has not taken it yet.') sent_at!: string | null;
  @ApiProperty({ description: 'As the merchant sees it.', type: PayoutBody }) payout!: PayoutBody;
}

export class UncertainPayoutListBody extends CursorListOf(UncertainPayoutBody) {}
