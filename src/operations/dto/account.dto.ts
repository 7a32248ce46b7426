import { IsString } from 'class-validator';
import { type FraudMode, MerchantSettingsDto, Setting } from '../../accounts/index.js';
import { RequiredField } from '../../core/http/index.js';

abstract class SettingsDto extends MerchantSettingsDto {
  @Setting('fee_bps', {
    description: 'The service’s fee in basis points of the amount.',
    type: 'integer',
    minimum: 0,
    maximum: 10_000,
    example: 99,
  })
  fee_bps?: number;

  @Setting('fee_fixed', { description: 'The service’s fixed fee in cents.', type: 'integer', minimum: 0, example: 10 })
  fee_fixed?: number;

  @Setting('pix_out_fee', {
    description: 'Cents of a Pix-out, debited with a cashout refund sent with `passFeeToTenant`.',
    type: 'integer',
    minimum: 0,
    example: 50,
  })
  pix_out_fee?: number;

  @Setting('release_days', {
    description: 'Calendar days in São Paulo until money is spendable.',
    type: 'integer',
    minimum: 0,
    maximum: 365,
    example: 1,
  })
  release_days?: number;

  @Setting('reserve_bps', {
    description:
      'Of the amount of each sale, in basis points, what is spendable only after `reserve_days`; 0: nothing.',
    type: 'integer',
    minimum: 0,
    maximum: 10_000,
    example: 1_000,
  })
  reserve_bps?: number;

  @Setting('reserve_days', {
    description: 'Calendar days in São Paulo until that part is spendable, where these are more than `release_days`.',
    type: 'integer',
    minimum: 0,
    maximum: 365,
    example: 30,
  })
  reserve_days?: number;

  @Setting('payer_lock', {
    description: 'Whether `expected_payer_tax_id` locks charges.',
    type: 'boolean',
    example: true,
  })
  payer_lock?: boolean;

  @Setting('default_expires_in', {
    description: 'Seconds a charge waits for payment when its request does not say.',
    type: 'integer',
    minimum: 60,
    maximum: 86_400,
    example: 3_600,
  })
  default_expires_in?: number;

  @Setting('med_outcome_notifications', {
    description: 'Whether the account is told by webhook how its MED cases end.',
    type: 'boolean',
    example: true,
  })
  med_outcome_notifications?: boolean;

  @Setting('fraud_mode', {
    description: '`enforce` refuses, `shadow` only records what it would refuse, `off` does nothing.',
    enum: ['enforce', 'shadow', 'off'],
    example: 'enforce',
  })
  fraud_mode?: FraudMode;

  @Setting('fraud_velocity', {
    description: 'Charges a minute for one customer document.',
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    example: 30,
  })
  fraud_velocity?: number;

  @Setting('fraud_max_amount', {
    description: 'Maximum ticket in the smallest unit; null for none.',
    type: 'integer',
    minimum: 1,
    nullable: true,
    example: 500_000,
  })
  fraud_max_amount?: number | null;

  @Setting('fraud_blocked_documents', {
    description: 'CPFs and CNPJs that are not charged; replaces the list.',
    type: [String],
    maxItems: 1_000,
    example: ['52998224725'],
  })
  fraud_blocked_documents?: string[];

  @Setting('negative_notice_days', {
    description: 'Days between mails of an available balance below zero; 0: one mail when it begins.',
    type: 'integer',
    minimum: 0,
    maximum: 365,
    example: 7,
  })
  negative_notice_days?: number;

  @Setting('suspended', {
    description:
      'Whether its API keys are refused with 403 `account_suspended`. What was begun goes on: charges that are out are paid, refunds end, webhooks are sent, and its people can log in.',
    type: 'boolean',
    example: false,
  })
  suspended?: boolean;
}

/** Body of `PATCH /v1/operations/accounts/{id}`. */
export class ChangeAccountDto extends SettingsDto {
  @Setting('name', { description: 'Name of the merchant.', maxLength: 120, example: 'Padaria São João' })
  name?: string;
}

/** Body of `POST /v1/operations/accounts`. */
export class CreateAccountDto extends SettingsDto {
  @RequiredField({ description: 'Name of the merchant.', maxLength: 120, example: 'Padaria São João' })
  @IsString({ message: 'must be a text' })
  name!: string;

  @RequiredField({
    description: 'E-mail of the first OWNER, who is invited by mail; also `contact_email`, when that is not sent.',
    maxLength: 254,
    example: 'ana@example.com',
  })
  @IsString({ message: 'must be a text' })
  email!: string;
}
