import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';
import { type FraudMode, MerchantAccountBody } from '../../accounts/index.js';

export class AccountBody extends MerchantAccountBody {
  @ApiProperty({ description: 'The service’s fee in basis points.', type: 'integer', example: 99 }) fee_bps!: number;
  @ApiProperty({ description: 'The service’s fixed fee in cents.', type: 'integer', example: 10 }) fee_fixed!: number;
  @ApiProperty({ description: 'Of a Pix-out, in cents.', type: 'integer', example: 50 }) pix_out_fee!: number;
  @ApiProperty({ description: 'Calendar days until money is spendable.', type: 'integer', example: 1 })
  release_days!: number;
  @ApiProperty({
    description: 'Of the amount of each sale, in basis points, what is spendable only after `reserve_days`.',
    type: 'integer',
    example: 1_000,
  })
  reserve_bps!: number;
  @ApiProperty({
    description: 'Calendar days until that part is spendable, where these are more than `release_days`.',
    type: 'integer',
    example: 30,
  })
  reserve_days!: number;
  @ApiProperty({ description: 'Whether `expected_payer_tax_id` locks charges.', example: false }) payer_lock!: boolean;
  @ApiProperty({ description: 'Seconds a charge waits by default.', type: 'integer', example: 3_600 })
  default_expires_in!: number;
  @ApiProperty({ description: 'Whether it is told by webhook how its MED cases end.', example: true })
  med_outcome_notifications!: boolean;
  @ApiProperty({ description: 'What the fraud guard does.', enum: ['enforce', 'shadow', 'off'] })
  fraud_mode!: FraudMode;
  @ApiProperty({ description: 'Charges a minute for one customer document.', type: 'integer', example: 30 })
  fraud_velocity!: number;
  @ApiProperty({ description: 'Maximum ticket; null for none.', type: 'integer', nullable: true, example: 500_000 })
  fraud_max_amount!: number | null;
  @ApiProperty({ description: 'CPFs and CNPJs that are not charged.', type: [String], example: ['52998224725'] })
  fraud_blocked_documents!: string[];
  @ApiProperty({
    description: 'Days between mails of an available balance below zero; 0: one mail when it begins.',
    type: 'integer',
    example: 7,
  })
  negative_notice_days!: number;
  @ApiProperty({ description: 'Whether its API keys are refused.', example: false }) suspended!: boolean;
}

export class AccountListBody extends CursorListOf(AccountBody) {}
