import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { normalizeTaxId } from '../../brazil/index.js';
import {
  DescriptiveField,
  DescriptiveObject,
  DescriptiveText,
  EMAIL_FORM,
  IsAmount,
  IsEmailAddress,
  IsMetadata,
  OptionalField,
  RequiredField,
  rule,
} from '../../core/http/index.js';
import { IsIdempotencyKey } from '../../core/idempotency/index.js';
import { MAX_AMOUNT } from '../../core/money/index.js';
import { MAX_URL_LENGTH } from '../../core/net/index.js';
import { PAYMENT_METHODS } from '../../transactions/index.js';

const METHODS = { message: `must be a list of ${PAYMENT_METHODS.join(', ')}` };

/** Punctuated as only a CPF or CNPJ is. */
const BRAZILIAN = /^(?:\d{3}\.\d{3}\.\d{3}-\d{2}|[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2})$/i;

/**
 * Any country's tax id: printable, 1 to 32 characters. Written as a CPF or CNPJ it must be one: then a wrong digit is a
 * slip and no other country's number.
 */
function IsTaxIdOfAnyCountry(): PropertyDecorator {
  return rule(
    'isTaxIdOfAnyCountry',
    (value) =>
      typeof value === 'string' &&
      /^[\x21-\x7e](?:[\x20-\x7e]{0,30}[\x21-\x7e])?$/.test(value) &&
      (!BRAZILIAN.test(value) || normalizeTaxId(value) !== null),
    'must be a CPF or CNPJ with valid check digits, a NIF or another tax id of 1 to 32 printable characters',
  );
}

/** Body of `POST /v1/payments`. */
export class CreatePaymentDto {
  @RequiredField({ description: 'Smallest unit.', minimum: 1, maximum: MAX_AMOUNT, type: 'integer', example: 1990 })
  @IsAmount()
  amount!: number;

  @OptionalField({
    description: '3 to 8 capital letters or digits. Pix and boleto are paid in BRL.',
    default: 'BRL',
    minLength: 3,
    maxLength: 8,
    pattern: '^[A-Z0-9]{3,8}$',
    example: 'BRL',
  })
  @Matches(/^[A-Z0-9]{3,8}$/, { message: 'must be a currency code of 3 to 8 capital letters or digits' })
  currency?: string;

  @RequiredField({
    description: 'How it may be paid: one or more, duplicates are collapsed. The payer uses one of them.',
    enum: PAYMENT_METHODS,
    isArray: true,
    minItems: 1,
    example: ['PIX', 'CREDIT_CARD'],
  })
  @IsArray(METHODS)
  @ArrayMinSize(1, METHODS)
  @ArrayMaxSize(PAYMENT_METHODS.length, METHODS)
  @IsIn(PAYMENT_METHODS, { each: true, ...METHODS })
  paymentMethods!: (typeof PAYMENT_METHODS)[number][];

  @DescriptiveText('Your own id of the user, echoed in the legacy webhooks.', 128, 'user-42')
  customerId?: string;

  @DescriptiveText('Name of the customer.', 200, 'Maria da Silva')
  customerName?: string;

  @DescriptiveField({
    type: String,
    pattern: '^\\s*$|^[\\x21-\\x7e]([\\x20-\\x7e]{0,30}[\\x21-\\x7e])?$',
    description: 'CPF, CNPJ, NIF or other tax id. The punctuation of a CPF or CNPJ is stripped.',
    maxLength: 32,
    example: '529.982.247-25',
  })
  @IsTaxIdOfAnyCountry()
  customerDocument?: string;

  @DescriptiveField({
    description: 'By RFC 5322.',
    type: String,
    pattern: EMAIL_FORM,
    maxLength: 254,
    example: 'maria@example.com',
  })
  @IsEmailAddress()
  @MaxLength(254, { message: 'must have at most 254 characters' })
  customerEmail?: string;

  @DescriptiveObject({
    description:
      'Free-form, echoed back. At most 16 KiB as JSON, 500 values and 5 levels. `med`, `failure` and keys starting with `_` are removed. `returnUrl`: where the payer goes after a card’s page. `phone`, in E.164: whom MB WAY asks; required for it.',
    type: 'object',
    additionalProperties: true,
    example: { orderId: '1042', returnUrl: 'https://merchant.example/thanks' },
  })
  @IsMetadata()
  metadata?: Record<string, unknown>;

  @DescriptiveField({
    description:
      'Where the legacy webhooks of this payment go instead of the account’s endpoints; the rules are those of an endpoint’s `url`.',
    type: String,
    format: 'uri',
    maxLength: MAX_URL_LENGTH,
    example: 'https://merchant.example/webhooks/order-1042',
  })
  @IsString({ message: 'must be a text' })
  webhookUrl?: string;

  @RequiredField({
    description:
      '1 to 128 printable ASCII characters, new for each intended payment. Kept for ever: repeating the request gives the original answer.',
    minLength: 1,
    maxLength: 128,
    example: 'order-1042-attempt-1',
  })
  @IsIdempotencyKey(1)
  idempotencyKey!: string;
}
