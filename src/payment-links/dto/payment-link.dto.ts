import { applyDecorators } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { isPicture } from '../../accounts/index.js';
import {
  CursorQuery,
  DAY_OR_INSTANT,
  DescriptiveField,
  DescriptiveObject,
  DescriptiveText,
  IsAmount,
  IsDayOrInstant,
  IsIdOf,
  IsMetadata,
  IsNullable,
  IsOneLine,
  IsText,
  OptionalEnum,
  OptionalField,
  OptionalText,
  RequiredText,
  rule,
} from '../../core/http/index.js';
import { MAX_AMOUNT } from '../../core/money/index.js';
import { LINK_STATUSES, type LinkStatus } from '../payment-link.js';
import { ASKABLE, type Askable } from '../payment-link.entity.js';

/** Larger than a logo, and as a `data:` URL small enough for a body of 64 KiB. */
export const MAX_PICTURE_BYTES = 32 * 1024;
const MAX_PAYMENTS = 1_000_000;
const MAX_DESCRIPTION = 1_000;
const MAX_QUESTION = 140;

const AMOUNT = 'Cents. Fixed; leave it out where the payer chooses.';
const AMOUNT_MIN = 'Cents. The least that the payer may choose.';
const AMOUNT_MAX = 'Cents. The most that the payer may choose.';
const MOST = 'How many payments are taken; later Pix go back by themselves.';
const UNTIL = 'Until when it may be paid: an instant with its zone, or a day, which is the whole of it in São Paulo.';
const DESCRIPTION = { description: 'What is sold, as the page shows it.', example: 'Half a kilo, freshly roasted.' };
const PICTURE = {
  description: `A PNG, JPEG or WebP picture of at most ${MAX_PICTURE_BYTES / 1024} KiB as a data: URL in base64.`,
  example: 'data:image/png;base64,iVBORw0KGgo…',
};
const QUESTION = { description: 'A question to the payer.', example: 'Whole beans or ground?' };
const RETURN_URL = {
  description: 'Where the payer goes after the payment: https, or http on a loopback address with a test key.',
  example: 'https://shop.example/thanks',
};
const METADATA = {
  description: 'Free-form, echoed back and copied to each charge. At most 16 KiB as JSON, 500 values and 5 levels.',
  type: 'object' as const,
  additionalProperties: true,
  example: { campaign: 'december' },
};

type Field = (described: ApiPropertyOptions) => PropertyDecorator;

/** A field that PATCH may empty by null. */
const Clearable: Field = (described) => applyDecorators(OptionalField({ ...described, nullable: true }), IsNullable());

const cents = (field: Field, description: string): PropertyDecorator =>
  applyDecorators(field({ description, minimum: 1, maximum: MAX_AMOUNT, type: 'integer', example: 5000 }), IsAmount());

const maxPayments = (field: Field): PropertyDecorator =>
  applyDecorators(
    field({ description: MOST, minimum: 1, maximum: MAX_PAYMENTS, type: 'integer', example: 50 }),
    IsInt({ message: `must be an integer from 1 to ${MAX_PAYMENTS}` }),
    Min(1, { message: `must be an integer from 1 to ${MAX_PAYMENTS}` }),
    Max(MAX_PAYMENTS, { message: `must be an integer from 1 to ${MAX_PAYMENTS}` }),
  );

const expiresAt = (field: Field): PropertyDecorator =>
  applyDecorators(field({ description: UNTIL, ...DAY_OR_INSTANT, type: String }), IsDayOrInstant());

const picture = (field: Field): PropertyDecorator =>
  applyDecorators(
    field({ ...PICTURE, type: String }),
    rule(
      'isPicture',
      (value) => typeof value === 'string' && isPicture(value, MAX_PICTURE_BYTES),
      `must be a PNG, JPEG or WebP picture of at most ${MAX_PICTURE_BYTES / 1024} KiB as a data: URL in base64`,
    ),
  );

const returnUrl = (field: Field): PropertyDecorator =>
  applyDecorators(
    field({ ...RETURN_URL, type: String, maxLength: 2048 }),
    rule('isText', (value) => typeof value === 'string', 'must be a text'),
  );

/** Fields that creating and changing read alike. */
abstract class AskingDto {
  @OptionalField({
    description: 'What the payer must enter.',
    type: 'array',
    items: { type: 'string', enum: [...ASKABLE] },
    uniqueItems: true,
    example: ['name', 'tax_id'],
  })
  @rule(
    'isAskable',
    (value) =>
      Array.isArray(value) &&
      value.every((one) => (ASKABLE as readonly unknown[]).includes(one)) &&
      new Set(value).size === value.length,
    `must be a list of ${ASKABLE.join(', ')} or some of them, each once`,
  )
  ask?: Askable[];
}

/** Body of `POST /v1/payment-links`. */
export class CreatePaymentLinkDto extends AskingDto {
  @RequiredText('What is sold, in one line.', 1, 120, 'Coffee of the month')
  @IsOneLine()
  name!: string;

  @DescriptiveText(DESCRIPTION.description, MAX_DESCRIPTION, DESCRIPTION.example) description?: string;
  @picture(DescriptiveField) picture?: string;
  @cents(OptionalField, AMOUNT) amount?: number;
  @cents(OptionalField, AMOUNT_MIN) amount_min?: number;
  @cents(OptionalField, AMOUNT_MAX) amount_max?: number;
  @maxPayments(OptionalField) max_payments?: number;
  @expiresAt(OptionalField) expires_at?: string;
  @DescriptiveText(QUESTION.description, MAX_QUESTION, QUESTION.example) question?: string;
  @returnUrl(DescriptiveField) return_url?: string;

  @DescriptiveObject(METADATA)
  @IsMetadata()
  metadata?: Record<string, unknown>;
}

/** Body of `PATCH /v1/payment-links/{id}`: null empties a field. */
export class ChangePaymentLinkDto extends AskingDto {
  @OptionalText('What is sold, in one line.', 1, 120, 'Coffee of the month')
  @IsOneLine()
  name?: string;

  @Clearable({ ...DESCRIPTION, type: String, maxLength: MAX_DESCRIPTION })
  @IsText(0, MAX_DESCRIPTION)
  description?: string | null;

  @picture(Clearable) picture?: string | null;
  @cents(Clearable, AMOUNT) amount?: number | null;
  @cents(Clearable, AMOUNT_MIN) amount_min?: number | null;
  @cents(Clearable, AMOUNT_MAX) amount_max?: number | null;
  @maxPayments(Clearable) max_payments?: number | null;
  @expiresAt(Clearable) expires_at?: string | null;

  @Clearable({ ...QUESTION, type: String, maxLength: MAX_QUESTION })
  @IsText(0, MAX_QUESTION)
  question?: string | null;

  @returnUrl(Clearable) return_url?: string | null;

  @OptionalField(METADATA)
  @IsMetadata()
  metadata?: Record<string, unknown>;
}

export class ListPaymentLinksQuery extends CursorQuery {
  @OptionalField({ description: 'A `pl_…` id: the previous page’s `next_cursor`.' })
  @IsIdOf('the id of a payment link', 'pl_')
  starting_after?: string;

  @OptionalEnum('Only links of this status.', LINK_STATUSES)
  status?: LinkStatus;
}
