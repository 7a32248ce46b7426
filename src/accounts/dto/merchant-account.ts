import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  EnumOf,
  Integer,
  NullableInteger,
  NullableText,
  OptionalField,
  rule,
  Text,
  Time,
} from '../../core/http/index.js';
import type { AccountEntity } from '../account.entity.js';
import { PAYOUT_SCHEDULE, shownPayoutSchedule, type ShownPayoutSchedule } from '../payout-schedule.js';
import { type SettingName, SETTINGS, type SettingValues } from '../settings.js';

/** A field that is a setting of the account, with its schema and rule. Null is a value here, not an absence. */
export function Setting(name: SettingName, description: string, example: unknown): PropertyDecorator {
  const setting: (typeof SETTINGS)[SettingName] = SETTINGS[name];
  const { schema } = setting;
  return applyDecorators(
    OptionalField({ ...schema, description, example }),
    // An object lists its required fields, which OptionalField overwrites.
    ...(schema.type === 'object' ? [ApiProperty({ ...schema, selfRequired: false })] : []),
    rule('isSetting', (value) => setting.read(value) !== null, `must be ${setting.rule}`),
  );
}

const EXAMPLE_SCHEDULE = {
  every: 'week',
  on: 1,
  at: '09:00',
  destination: 'pd_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  leave: 10_000,
  minimum: 5_000,
};

/** The settings that are the merchant's own to decide. */
export abstract class MerchantSettingsDto {
  @Setting('contact_email', 'Where the account is written to.', 'finance@example.com')
  contact_email?: string;

  @Setting('city', 'Shown in the BR Code.', 'Recife')
  city?: string;

  @Setting(
    'accent',
    'Colour of the checkout’s buttons, which stands out from white by 3:1 or more; what is written on it is black or white. Null for the service’s own.',
    '#0b6b60',
  )
  accent?: string | null;

  @Setting(
    'logo',
    'Picture of the checkout: PNG, JPEG or WebP of at most 16 KiB as a `data:` URL. Null for none.',
    'data:image/png;base64,iVBORw0KGgo=',
  )
  logo?: string | null;

  @Setting(
    'payer_receipts',
    'Whether payers whose `customer.email` was sent get a receipt by mail when the sale is paid.',
    true,
  )
  payer_receipts?: boolean;

  @Setting(
    'payout_schedule',
    'Sends the available balance above `leave` to a saved destination, on bank days only. Its mode is the destination’s. Null for none.',
    EXAMPLE_SCHEDULE,
  )
  payout_schedule?: ShownPayoutSchedule | null;

  @Setting(
    'monthly_closing',
    'Whether the OWNERs get a mail with the closing of the last month, on the first bank day of each month.',
    true,
  )
  monthly_closing?: boolean;

  @Setting('payout_approval_above', 'A payout above this amount needs a second person. Null for none.', 1_000_000)
  payout_approval_above?: number | null;

  @Setting('payout_max', 'Largest payout in cents. Null for the default: 5000000 in live mode.', 5_000_000)
  payout_max?: number | null;

  @Setting(
    'payout_daily_max',
    'Largest sum of payouts requested on a day of São Paulo. Null for the default: 20000000 in live mode.',
    20_000_000,
  )
  payout_daily_max?: number | null;

  @Setting(
    'payout_night_max',
    'Largest sum of payouts requested in a night, 20:00 to 06:00 in São Paulo. Null for the default: 100000 in live mode.',
    100_000,
  )
  payout_night_max?: number | null;
}

/** Body of `PATCH /v1/account`. */
export class ChangeOwnAccountDto extends MerchantSettingsDto {
  @Setting('name', 'Name of the merchant.', 'Padaria São João')
  name?: string;
}

/** The settings that were sent. */
export function settingsOf(dto: MerchantSettingsDto): SettingValues {
  return Object.fromEntries(Object.entries(dto).filter(([key]) => Object.hasOwn(SETTINGS, key)));
}

/** An account as its own people see it. */
export class MerchantAccountBody {
  @Text('Id of the account.', '019aa0f0-0000-7000-8000-000000000001') id!: string;
  @EnumOf('Kind of object.', ['account']) object!: string;
  @Text('Name of the merchant.', 'Padaria São João') name!: string;
  @Text('Where the account is written to.', 'ana@example.com') contact_email!: string;
  @Text('Shown in the BR Code.', 'SAO PAULO') city!: string;
  @NullableText('Colour of the checkout’s buttons; null for the service’s own.', '#0b6b60') accent!: string | null;
  @NullableText('Picture of the checkout as a `data:` URL; null for none.', 'data:image/png;base64,iVBORw0KGgo=')
  logo!: string | null;
  @ApiProperty({ description: 'Whether payers get a receipt by mail.', example: true }) payer_receipts!: boolean;
  @ApiProperty({
    ...PAYOUT_SCHEDULE.schema,
    description: 'Payouts by schedule; null: none.',
    nullable: true,
    example: EXAMPLE_SCHEDULE,
  } as ApiPropertyOptions)
  payout_schedule!: ShownPayoutSchedule | null;
  @ApiProperty({ description: 'Whether the OWNERs get the closing of each month by mail.', example: true })
  monthly_closing!: boolean;
  @Integer('Cents that each payout costs beside its amount; an operator sets it.', 0) payout_fee!: number;
  @NullableText('CPF or CNPJ of the merchant, which an operator sets; null: no live payout is made.', '11222333000181')
  tax_id!: string | null;
  @NullableInteger('A payout above this amount needs a second person. Null: none does.', 1_000_000)
  payout_approval_above!: number | null;
  @NullableInteger('Largest payout in cents; null: the default of the mode.', 5_000_000) payout_max!: number | null;
  @NullableInteger('Largest sum of payouts requested on a day; null: the default of the mode.', 20_000_000)
  payout_daily_max!: number | null;
  @NullableInteger('Largest sum of payouts requested in a night; null: the default of the mode.', 100_000)
  payout_night_max!: number | null;
  @Time('UTC.') created_at!: string;
}

export function merchantAccountBody(account: AccountEntity): MerchantAccountBody {
  return {
    id: account.id,
    object: 'account',
    name: account.name,
    contact_email: account.contactEmail,
    city: account.city,
    accent: account.accent,
    logo: account.logo,
    payer_receipts: account.payerReceipts,
    payout_schedule: shownPayoutSchedule(account.payoutSchedule),
    monthly_closing: account.monthlyClosing,
    payout_fee: account.payoutFee,
    tax_id: account.taxId,
    payout_approval_above: account.payoutApprovalAbove,
    payout_max: account.payoutMax,
    payout_daily_max: account.payoutDailyMax,
    payout_night_max: account.payoutNightMax,
    created_at: account.createdAt.toISOString(),
  };
}

/** All settings of an account, as operators and the command line see them. */
export function settingsBody(account: AccountEntity) {
  return {
    name: account.name,
    contact_email: account.contactEmail,
    city: account.city,
    fee_bps: account.feeBps,
    fee_fixed: account.feeFixed,
    pix_out_fee: account.pixOutFee,
    release_days: account.releaseDays,
    reserve_bps: account.reserveBps,
    reserve_days: account.reserveDays,
    payer_lock: account.payerLock,
    default_expires_in: account.defaultExpiresIn,
    med_outcome_notifications: account.medOutcomeNotifications,
    fraud_mode: account.fraudMode,
    fraud_velocity: account.fraudVelocity,
    fraud_max_amount: account.fraudMaxAmount,
    fraud_blocked_documents: [...account.fraudBlockedDocuments],
    accent: account.accent,
    logo: account.logo,
    negative_notice_days: account.negativeNoticeDays,
    payer_receipts: account.payerReceipts,
    tax_id: account.taxId,
    payout_fee: account.payoutFee,
    payouts_to: account.payoutsTo,
    payout_approval_above: account.payoutApprovalAbove,
    payout_new_destination_hours: account.payoutNewDestinationHours,
    payout_max: account.payoutMax,
    payout_daily_max: account.payoutDailyMax,
    payout_night_max: account.payoutNightMax,
    payout_schedule: shownPayoutSchedule(account.payoutSchedule),
    monthly_closing: account.monthlyClosing,
    suspended: account.suspended,
  } satisfies Record<SettingName, unknown>; // a setting that is forgotten here does not compile
}
