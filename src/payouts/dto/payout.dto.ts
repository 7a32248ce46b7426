import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { IsBoolean, IsString, Matches, MaxLength } from 'class-validator';
import { BANK_ACCOUNT_TYPES, PAYOUT_REFUSALS } from '../../acquirers/index.js';
import {
  CursorQuery,
  DescriptiveObject,
  DescriptiveText,
  idForm,
  IdCursorQuery,
  IsAmount,
  IsIdOf,
  IsMetadata,
  OptionalEnum,
  OptionalField,
  RequiredEnum,
  RequiredField,
  RequiredText,
  rule,
} from '../../core/http/index.js';
import { MAX_AMOUNT } from '../../core/money/index.js';
import { PUBLIC_PAYOUT_STATUSES, type PublicPayoutStatus } from '../payout-status.js';

const BR_CODE = '00020126330014br.gov.bcb.pix0111529982247255204000053039865802BR5903Ana6006Recife62070503***6304AA14';
const END_TO_END_ID = 'E00000000202611211530abcDEF12345';
const TYPES = ['pix_key', 'br_code', 'bank_account'] as const;

/** Documents a receiver. `readTarget` checks it, as its fields depend on its type. */
export class PayoutTargetDto {
  @ApiProperty({ description: 'Kind of receiver.', enum: TYPES, example: 'pix_key' }) type!: (typeof TYPES)[number];
  @ApiPropertyOptional({
    description: '`pix_key`: CPF, CNPJ, e-mail, phone in E.164 or random key.',
    example: 'ana@example.com',
  })
  key?: string;
  @ApiPropertyOptional({
    description:
      'CPF or CNPJ of the receiver. A `pix_key` that is a CPF or CNPJ needs none; other keys change their owner.',
    example: '52998224725',
  })
  tax_id?: string;
  @ApiPropertyOptional({
    description: '`br_code`: the copy-and-paste code. An amount in it must be the payout’s.',
    example: BR_CODE,
  })
  br_code?: string;
  @ApiPropertyOptional({ description: '`bank_account`: the bank, 8 digits.', example: '00000000' }) ispb?: string;
  @ApiPropertyOptional({ description: '`bank_account`: branch, 1 to 4 digits.', example: '0001' }) branch?: string;
  @ApiPropertyOptional({ description: '`bank_account`: number with its check digit.', example: '123456-7' })
  number?: string;
  @ApiPropertyOptional({ description: '`bank_account`: type of the account.', enum: BANK_ACCOUNT_TYPES })
  account_type?: (typeof BANK_ACCOUNT_TYPES)[number];
  @ApiPropertyOptional({ description: '`bank_account`: name of its holder.', example: 'Padaria São João Ltda' })
  name?: string;
}

const DESTINATION_ID = /^(pd_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Body of `POST /v1/payouts`. */
@ApiExtraModels(PayoutTargetDto)
export class CreatePayoutDto {
  @RequiredField({ description: 'Cents.', minimum: 1, maximum: MAX_AMOUNT, type: 'integer', example: 150_000 })
  @IsAmount()
  amount!: number;

  @OptionalEnum('Pix is paid in BRL.', ['BRL'], { default: 'BRL' })
  currency?: string;

  @RequiredField({
    description: 'A saved destination’s id, or a receiver.',
    oneOf: [idForm('pd_'), { $ref: getSchemaPath(PayoutTargetDto) }],
  })
  @rule(
    'isDestination',
    (value) =>
      (typeof value === 'string' && DESTINATION_ID.test(value)) ||
      (typeof value === 'object' && value !== null && !Array.isArray(value)),
    'must be the id of a saved destination (pd_…), or an object with a type',
  )
  destination!: string | Record<string, unknown>;

  @DescriptiveText('Returned as `metadata.description`, and shown to the receiver.', 140, 'Withdrawal')
  description?: string;

  @DescriptiveObject({
    description: 'Free-form, echoed back. At most 16 KiB as JSON, 500 values and 5 levels.',
    type: 'object',
    additionalProperties: true,
    example: { reference: '1042' },
  })
  @IsMetadata()
  metadata?: Record<string, unknown>;

  @OptionalField({
    description:
      'True: send the same amount to the same destination again within ten minutes. Otherwise that is 409 `likely_duplicate`.',
    type: Boolean,
    default: false,
  })
  @IsBoolean({ message: 'must be true or false' })
  allow_duplicate?: boolean;
}

/** Body of `POST /v1/payout-destinations`: a receiver, and a name for it. */
export class CreatePayoutDestinationDto {
  @RequiredEnum('Kind of receiver.', TYPES, { example: 'pix_key' }) type!: (typeof TYPES)[number];
  @OptionalField({ description: '`pix_key`: the key.', type: String, example: 'ana@example.com' })
  @IsString({ message: 'must be a text' })
  key?: string;
  @OptionalField({
    description: 'CPF or CNPJ of the receiver; a key that is one needs none.',
    type: String,
    example: '52998224725',
  })
  @IsString({ message: 'must be a text' })
  tax_id?: string;
  @OptionalField({ description: '`br_code`: the copy-and-paste code.', type: String, example: BR_CODE })
  @IsString({ message: 'must be a text' })
  br_code?: string;
  @OptionalField({ description: '`bank_account`: the bank, 8 digits.', type: String, example: '00000000' })
  @IsString({ message: 'must be a text' })
  ispb?: string;
  @OptionalField({ description: '`bank_account`: branch, 1 to 4 digits.', type: String, example: '0001' })
  @IsString({ message: 'must be a text' })
  branch?: string;
  @OptionalField({ description: '`bank_account`: number with its check digit.', type: String, example: '123456-7' })
  @IsString({ message: 'must be a text' })
  number?: string;
  @OptionalEnum('`bank_account`: type of the account.', BANK_ACCOUNT_TYPES)
  account_type?: (typeof BANK_ACCOUNT_TYPES)[number];
  @OptionalField({ description: '`bank_account`: name of its holder.', type: String, example: 'Padaria São João Ltda' })
  @IsString({ message: 'must be a text' })
  name?: string;
  @DescriptiveText('Your name for it.', 60, 'Main account') label?: string;
}

export class ListPayoutsQuery extends CursorQuery {
  @OptionalField({ description: 'A `po_…` id: the previous page’s `next_cursor`.' })
  @IsIdOf('the id of a payout', 'po_')
  starting_after?: string;

  @OptionalEnum('Only payouts of this status.', PUBLIC_PAYOUT_STATUSES)
  status?: PublicPayoutStatus;

  @OptionalField({ description: 'Only payouts to this saved destination.' })
  @IsIdOf('the id of a payout destination', 'pd_')
  destination?: string;
}

export class ListPayoutDestinationsQuery extends CursorQuery {
  @OptionalField({ description: 'A `pd_…` id: the previous page’s `next_cursor`.' })
  @IsIdOf('the id of a payout destination', 'pd_')
  starting_after?: string;
}

/** Body of approvals: the second factor, for people who have one. */
export class DecidePayoutDto {
  @OptionalField({ description: 'One-time code, required if you log in with one.', type: String, example: '123456' })
  @IsString({ message: 'must be a text' })
  @MaxLength(40, { message: 'must have at most 40 characters' })
  code?: string;
}

/** Body of a refusal. */
export class RefusePayoutDto extends DecidePayoutDto {
  @DescriptiveText('Why, for whoever requested the payout. The audit trail keeps it.', 140, 'Ask the supplier first')
  reason?: string;
}

export class ListUncertainPayoutsQuery extends IdCursorQuery {}

/** Body of an operator's decision. */
export class ResolvePayoutDto {
  @RequiredEnum('What happened at the bank.', ['paid', 'failed'], { example: 'failed' })
  outcome!: 'paid' | 'failed';

  @OptionalField({
    description: '`paid`: end-to-end id of the Pix, as the bank shows it.',
    type: String,
    example: END_TO_END_ID,
  })
  @Matches(/^E[0-9A-Za-z]{31}$/, { message: 'must be an end-to-end id: E and 31 letters or digits' })
  end_to_end_id?: string;

  @OptionalEnum('`failed`: why.', PAYOUT_REFUSALS)
  failure?: (typeof PAYOUT_REFUSALS)[number];

  @RequiredText('How you know.', 3, 500, 'The bank’s statement of 21 November does not have it.')
  reason!: string;
}
