import { IsString } from 'class-validator';
import { type FraudMode, MerchantSettingsDto, Setting } from '../../accounts/index.js';
import { RequiredField } from '../../core/http/index.js';

abstract class SettingsDto extends MerchantSettingsDto {
  @Setting('fee_bps', 'The service’s fee in basis points of the amount.', 99)
  fee_bps?: number;

  @Setting('fee_fixed', 'The service’s fixed fee in cents.', 10)
  fee_fixed?: number;

  @Setting('pix_out_fee', 'Cents of a Pix-out, debited with a cashout refund sent with `passFeeToTenant`.', 50)
  pix_out_fee?: number;

  @Setting('release_days', 'Calendar days in São Paulo until money is spendable.', 1)
  release_days?: number;

  @Setting(
    'reserve_bps',
    'Of the amount of each sale, in basis points, what is spendable only after `reserve_days`; 0: nothing.',
    1_000,
  )
  reserve_bps?: number;

  @Setting(
    'reserve_days',
    'Calendar days in São Paulo until that part is spendable, where these are more than `release_days`.',
    30,
  )
  reserve_days?: number;

  @Setting('payer_lock', 'Whether `expected_payer_tax_id` locks charges.', true)
  payer_lock?: boolean;

  @Setting('default_expires_in', 'Seconds a charge waits for payment when its request does not say.', 3_600)
  default_expires_in?: number;

  @Setting('med_outcome_notifications', 'Whether the account is told by webhook how its MED cases end.', true)
  med_outcome_notifications?: boolean;

  @Setting(
    'fraud_mode',
    '`enforce` refuses, `shadow` only records what it would refuse, `off` does nothing.',
    'enforce',
  )
  fraud_mode?: FraudMode;

  @Setting('fraud_velocity', 'Charges a minute for one customer document.', 30)
  fraud_velocity?: number;

  @Setting('fraud_max_amount', 'Maximum ticket in the smallest unit; null for none.', 500_000)
  fraud_max_amount?: number | null;

  @Setting('fraud_blocked_documents', 'CPFs and CNPJs that are not charged; replaces the list.', ['52998224725'])
  fraud_blocked_documents?: string[];

  @Setting(
    'negative_notice_days',
    'Days between mails of an available balance below zero; 0: one mail when it begins.',
    7,
  )
  negative_notice_days?: number;

  @Setting(
    'tax_id',
    'CPF or CNPJ of the merchant, without which no live payout is made; null for none.',
    '11222333000181',
  )
  tax_id?: string | null;

  @Setting('payout_fee', 'Cents that each payout costs the merchant.', 0)
  payout_fee?: number;

  @Setting(
    'payouts_to',
    'Receivers of payouts: `own`, the merchant’s own accounts, or `anyone`. Null for the default: `own` in live mode, `anyone` in test mode.',
    'own',
  )
  payouts_to?: 'own' | 'anyone' | null;

  @Setting(
    'payout_new_destination_hours',
    'Hours that a payout to a destination never paid before waits. Null for the default: 24 in live mode, 0 in test mode.',
    24,
  )
  payout_new_destination_hours?: number | null;

  @Setting(
    'suspended',
    'Whether its API keys are refused with 403 `account_suspended`. What was begun goes on: charges that are out are paid, refunds end, webhooks are sent, and its people can log in.',
    false,
  )
  suspended?: boolean;
}

/** Body of `PATCH /v1/operations/accounts/{id}`. */
export class ChangeAccountDto extends SettingsDto {
  @Setting('name', 'Name of the merchant.', 'Padaria São João')
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
