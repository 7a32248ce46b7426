import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, NullableText, Text, Time } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

export class FraudHitBody {
  @Text('Id of the hit.', ID) id!: string;
  @EnumOf('Kind of object.', ['fraud_hit']) object!: string;
  @Text('Whose request.', '019aa0f0-0000-7000-8000-000000000001') account_id!: string;
  @EnumOf('World it belongs to.', ['test', 'live']) mode!: Mode;
  @EnumOf('The rule, as `error.code` names it.', [
    'fraud.document_blocked',
    'fraud.amount_limit_exceeded',
    'fraud.velocity_exceeded',
  ])
  code!: string;
  @ApiProperty({
    description: 'True when the request was refused; false in shadow mode, where it went on.',
    example: true,
  })
  enforced!: boolean;
  @EnumOf('What was asked for.', ['charge', 'payment', 'refund', 'payout']) operation!: string;
  @Integer('Smallest unit.', 1990) amount!: number;
  @NullableText('Of the customer, masked; null when none was sent.', '***.982.247-**') document!: string | null;
  @Time('UTC.') created_at!: string;
}

export class FraudHitListBody extends CursorListOf(FraudHitBody) {}
