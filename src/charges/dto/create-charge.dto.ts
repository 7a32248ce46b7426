import { ApiExtraModels } from '@nestjs/swagger';
import { IsInt, Matches, MaxLength, Min } from 'class-validator';
import {
  DescriptiveField,
  DescriptiveObject,
  DescriptiveText,
  EMAIL_FORM,
  IsAmount,
  IsEmailAddress,
  IsMetadata,
  Nested,
  OptionalEnum,
  OptionalField,
  RequiredEnum,
  RequiredField,
  TAX_ID_FORM,
} from '../../core/http/index.js';
import { MAX_AMOUNT } from '../../core/money/index.js';
import { IsTaxId } from './validators.js';

export class CustomerDto {
  @DescriptiveText('Name of the customer. Required when `expected_payer_tax_id` is sent.', 200, 'Maria da Silva')
  name?: string;

  @DescriptiveField({
    type: String,
    maxLength: 40,
    pattern: TAX_ID_FORM.pattern,
    description: 'CPF or CNPJ, numeric or alphanumeric; punctuation is stripped. Informational: it locks nothing.',
    example: '529.982.247-25',
  })
  @IsTaxId()
  document?: string;

  @DescriptiveField({
    description: 'Used for the receipt.',
    pattern: EMAIL_FORM,
    type: String,
    maxLength: 254,
    example: 'maria@example.com',
  })
  @IsEmailAddress()
  @MaxLength(254, { message: 'must have at most 254 characters' })
  email?: string;

  @DescriptiveField({
    description: 'Phone number, best in E.164.',
    type: String,
    maxLength: 32,
    example: '+5511987654321',
  })
  @Matches(/^(?=.*\d)[+0-9() .-]{5,32}$/, { message: 'must be a phone number of 5 to 32 digits and separators' })
  phone?: string;
}

/** Fields of the bodies of both routes. */
@ApiExtraModels(CustomerDto)
export abstract class ChargeDto {
  @RequiredField({ description: 'Cents.', minimum: 1, maximum: MAX_AMOUNT, type: 'integer', example: 1990 })
  @IsAmount()
  amount!: number;

  @OptionalEnum('Pix is paid in BRL.', ['BRL'], { default: 'BRL' })
  currency?: string;

  @DescriptiveText('Returned as `metadata.description`; wins over one in `metadata`.', 500, 'Order 1042')
  description?: string;

  @OptionalField({
    description: 'Seconds until expiry; above 86400 it is capped. Omitted: the account’s window, usually 3600.',
    minimum: 60,
    type: 'integer',
    default: 3600,
    example: 3600,
  })
  @IsInt({ message: 'must be an integer of seconds' })
  @Min(60, { message: 'must be at least 60 seconds' })
  expires_in?: number;

  @DescriptiveObject({ description: 'Who is charged.', type: CustomerDto })
  @Nested(() => CustomerDto)
  customer?: CustomerDto;

  @OptionalField({
    ...TAX_ID_FORM,
    description:
      'Payer lock: only this CPF or CNPJ may pay. Needs `customer.name`, and equals `customer.document` when that is sent. Ignored when the lock is not enabled for the account.',
    example: '52998224725',
  })
  @IsTaxId()
  expected_payer_tax_id?: string;

  @DescriptiveObject({
    description:
      'Free-form, echoed back. At most 16 KiB as JSON, 500 values and 5 levels. `med`, `failure` and keys starting with `_` are removed.',
    type: 'object',
    additionalProperties: true,
    example: { order_id: '1042' },
  })
  @IsMetadata()
  metadata?: Record<string, unknown>;
}

/** Body of `POST /v1/pix/charges`. */
export class CreatePixChargeDto extends ChargeDto {
  @OptionalEnum('Filled in by the shortcut.', ['pix'], { default: 'pix' })
  payment_method?: string;
}

/**
 * Body of `POST /v1/charges`. Not a subclass of the other body: rules are inherited, and an inherited @OptionalField
 * would make the required field optional.
 */
export class CreateChargeDto extends ChargeDto {
  @RequiredEnum('How it is paid.', ['pix'], { example: 'pix' })
  payment_method!: string;
}
