import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { buildMessage, IsDefined, IsString, ValidateBy } from 'class-validator';
import { type FraudMode, type SettingName, SETTINGS, type SettingValues } from '../../accounts/index.js';
import { IsOptional } from '../../core/http/index.js';

/** A field that is a setting of the account: its rule is that of the settings. Null is a value here, not an absence. */
function Setting(name: SettingName, options: ApiPropertyOptions): PropertyDecorator {
  const setting = SETTINGS[name];
  return applyDecorators(
    ApiPropertyOptional(options),
    IsOptional(),
    ValidateBy({
      name: 'isSetting',
      validator: {
        validate: (value: unknown) => setting.read(value) !== null,
        defaultMessage: buildMessage(() => `must be ${setting.rule}`),
      },
    }),
  );
}

abstract class SettingsDto {
  @Setting('contact_email', { description: 'Where the account is written to.', example: 'finance@example.com' })
  contact_email?: string;

  @Setting('city', { description: 'Shown in the BR Code.', maxLength: 60, example: 'Recife' })
  city?: string;

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

  @Setting('accent', {
    description:
      'Colour of the checkout’s buttons, which stands out from white by 3:1 or more; what is written on it is black or white. Null for the service’s own.',
    type: 'string',
    pattern: '^#[0-9a-fA-F]{6}$',
    nullable: true,
    example: '#0b6b60',
  })
  accent?: string | null;

  @Setting('logo', {
    description: 'Picture of the checkout: PNG, JPEG or WebP of at most 16 KiB as a `data:` URL. Null for none.',
    type: 'string',
    nullable: true,
    example: 'data:image/png;base64,iVBORw0KGgo=',
  })
  logo?: string | null;

  @Setting('payer_receipts', {
    description: 'Whether payers whose `customer.email` was sent get a receipt by mail when the sale is paid.',
    type: 'boolean',
    example: true,
  })
  payer_receipts?: boolean;

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
  @ApiProperty({ description: 'Name of the merchant.', maxLength: 120, example: 'Padaria São João' })
  @IsDefined({ message: 'is required' })
  @IsString({ message: 'must be a text' })
  name!: string;

  @ApiProperty({
    description: 'E-mail of the first OWNER, who is invited by mail; also `contact_email`, when that is not sent.',
    maxLength: 254,
    example: 'ana@example.com',
  })
  @IsDefined({ message: 'is required' })
  @IsString({ message: 'must be a text' })
  email!: string;
}

/** The settings that were sent. */
export function settingsOf(dto: ChangeAccountDto): SettingValues {
  return Object.fromEntries(Object.entries(dto).filter(([key]) => Object.hasOwn(SETTINGS, key)));
}
