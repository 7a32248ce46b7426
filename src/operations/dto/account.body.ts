import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, NullableInteger } from '../../core/http/index.js';
import { type FraudMode, MerchantAccountBody } from '../../accounts/index.js';

export class AccountBody extends MerchantAccountBody {
  @Integer('The service’s fee in basis points.', 99) fee_bps!: number;
  @Integer('The service’s fixed fee in cents.', 10) fee_fixed!: number;
  @Integer('Of a Pix-out, in cents.', 50) pix_out_fee!: number;
  @Integer('Calendar days until money is spendable.', 1) release_days!: number;
  @Integer('Of the amount of each sale, in basis points, what is spendable only after `reserve_days`.', 1_000)
  reserve_bps!: number;
  @Integer('Calendar days until that part is spendable, where these are more than `release_days`.', 30)
  reserve_days!: number;
  @ApiProperty({ description: 'Whether `expected_payer_tax_id` locks charges.', example: false }) payer_lock!: boolean;
  @Integer('Seconds a charge waits by default.', 3_600) default_expires_in!: number;
  @ApiProperty({ description: 'Whether it is told by webhook how its MED cases end.', example: true })
  med_outcome_notifications!: boolean;
  @EnumOf('What the fraud guard does.', ['enforce', 'shadow', 'off']) fraud_mode!: FraudMode;
  @Integer('Charges a minute for one customer document.', 30) fraud_velocity!: number;
  @NullableInteger('Maximum ticket; null for none.', 500_000) fraud_max_amount!: number | null;
  @ApiProperty({ description: 'CPFs and CNPJs that are not charged.', type: [String], example: ['52998224725'] })
  fraud_blocked_documents!: string[];
  @Integer('Days between mails of an available balance below zero; 0: one mail when it begins.', 7)
  negative_notice_days!: number;
  @ApiProperty({
    description: 'Receivers of payouts; null: the default of the mode.',
    enum: ['own', 'anyone', null],
    nullable: true,
    example: 'own',
  })
  payouts_to!: 'own' | 'anyone' | null;
  @NullableInteger('Hours that a payout to a new destination waits; null: the default of the mode.', 24)
  payout_new_destination_hours!: number | null;
  @ApiProperty({ description: 'Whether its API keys are refused.', example: false }) suspended!: boolean;
}

export class AccountListBody extends CursorListOf(AccountBody) {}
