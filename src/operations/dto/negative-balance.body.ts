import { ApiProperty } from '@nestjs/swagger';
import { EnumOf, Integer, NullableText, NullableTime, Text, Time } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';

export class NegativeBalanceBody {
  @EnumOf('Kind of object.', ['negative_balance']) object!: string;
  @Text('Whose.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') account_id!: string;
  @EnumOf('World it belongs to.', ['test', 'live']) mode!: Mode;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @Integer('What is available, below zero; smallest unit.', -1990) available!: number;
  @Time('Since when it is below zero, UTC.') negative_since!: string;
  @NullableTime('When the merchant is told (again), UTC; null: not any more.') next_notice_at!: string | null;
}

export class NegativeBalanceListBody {
  @EnumOf('Kind of object.', ['list']) object!: 'list';
  @ApiProperty({ description: 'Below zero for longest first.', type: [NegativeBalanceBody] })
  data!: NegativeBalanceBody[];
  @ApiProperty({ description: 'Whether there are more.' }) has_more!: boolean;
  @NullableText(
    'Send as `starting_after`; null on the last page.',
    '1763726400000_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12_live_BRL',
  )
  next_cursor!: string | null;
}
