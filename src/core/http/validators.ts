import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDefined, IsEmail, IsIn, ValidateBy, ValidateIf, type ValidationArguments } from 'class-validator';
import { isUuid, withSmallUuids } from '../ids.js';
import { MAX_AMOUNT } from '../money/index.js';
import { hasControls, visibleLength } from '../text.js';
import { Reads } from './nested.decorator.js';
import { idForm } from './openapi.js';

/**
 * A field that may be left out. Null does not count as left out, unlike in class-validator's rule of that name. If a
 * variable was empty by mistake, `"amount": null` would be a refund of everything.
 */
export function IsOptional(): PropertyDecorator {
  return ValidateIf((_dto: object, value: unknown) => value !== undefined);
}

/**
 * An amount in the smallest unit of its currency. Shops often send reais at first, so the message shows the right unit.
 */
export function IsAmount(): PropertyDecorator {
  return rule(
    'isAmount',
    (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_AMOUNT,
    `must be an integer from 1 to ${MAX_AMOUNT}, in cents: R$ 19,90 is 1990`,
  );
}

/** A field that must be there, as the document describes it; further rules check its value. */
export function RequiredField(described: ApiPropertyOptions): PropertyDecorator {
  return applyDecorators(ApiProperty(described), IsDefined({ message: 'is required' }));
}

/** A field that may be left out (`IsOptional`), as the document describes it. */
export function OptionalField(described: ApiPropertyOptions): PropertyDecorator {
  return applyDecorators(ApiPropertyOptional(described), IsOptional());
}

/**
 * A field that may be left out and only describes (docs/contract.md#fields-that-describe). Shop systems send null and
 * blanks when they have nothing to say: these count as left out. Never use it for fields that decide about money, time
 * or who may pay.
 */
export function DescriptiveField(described: ApiPropertyOptions): PropertyDecorator {
  return applyDecorators(OptionalField({ ...described, nullable: true }), Reads(saysSomething));
}

/** @returns undefined for empty values */
function saysSomething(sent: unknown): unknown {
  return isBlank(sent) ? undefined : sent;
}

function isBlank(value: unknown): boolean {
  return value === null || (typeof value === 'string' && visibleLength(value) === 0);
}

/** A descriptive field that is an object: PHP writes an empty one as []. */
export function DescriptiveObject(described: ApiPropertyOptions): PropertyDecorator {
  const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
  return applyDecorators(
    DescriptiveField(described),
    Reads((sent) => (isEmptyList(sent) ? undefined : saysSomething(sent))),
  );
}

type Field = typeof RequiredField;

const enumField =
  (field: Field) =>
  (description: string, values: readonly string[], more: Partial<ApiPropertyOptions> = {}): PropertyDecorator =>
    applyDecorators(
      field({ description, enum: [...values], ...more } as ApiPropertyOptions),
      IsIn(values, { message: `must be ${values.length > 2 ? `one of ${values.join(', ')}` : values.join(' or ')}` }),
    );

/** A field that is one of `values`. */
export const RequiredEnum = enumField(RequiredField);
export const OptionalEnum = enumField(OptionalField);

/** A field that may be left out, and may be null; its documentation says what null means. */
export function IsNullable(): PropertyDecorator {
  return ValidateIf((_dto: object, value: unknown) => value !== undefined && value !== null);
}

/**
 * Makes a rule of our own.
 * @param name unique among the rules of a field
 * @param message the requirement on a value, for the error
 */
export function rule(
  name: string,
  isKept: (value: unknown, dto: object) => boolean,
  message: string | ((value: unknown, dto: object) => string),
): PropertyDecorator {
  const validate = (value: unknown, args?: ValidationArguments): boolean => isKept(value, args?.object ?? {});
  const said = (args?: ValidationArguments): string =>
    typeof message === 'string' ? message : message(args?.value, args?.object ?? {});
  return ValidateBy({ name, validator: { validate, defaultMessage: said } });
}

/**
 * A text for people. Blanks and invisible characters around it do not count towards `min`, so a name of blanks is
 * empty. Towards `max` they do count, since the text is kept and shown as it was sent.
 */
export function IsText(min: number, max: number): PropertyDecorator {
  const size = min === 0 ? `at most ${max}` : `${min} to ${max}`;
  return rule(
    'isText',
    (value) => typeof value === 'string' && visibleLength(value) >= min && charactersOf(value) <= max,
    (value) => (typeof value === 'string' ? `must have ${size} characters` : 'must be a text'),
  );
}

const textField =
  (field: Field) =>
  (description: string, min: number, max: number, example: string): PropertyDecorator =>
    applyDecorators(
      field({ description, ...(min === 0 ? {} : { minLength: min }), maxLength: max, example }),
      IsText(min, max),
    );

/** A field that is a text, checked by `IsText`. */
export const RequiredText = textField(RequiredField);
export const OptionalText = textField(OptionalField);
/** A descriptive text; empty counts as left out, so it has no least length. @param max characters */
export const DescriptiveText = (description: string, max: number, example: string): PropertyDecorator =>
  textField(DescriptiveField)(description, 0, max, example);

/** A name without line breaks, other controls and marks of direction. */
export function IsOneLine(): PropertyDecorator {
  return rule(
    'isOneLine',
    (value) => typeof value === 'string' && !hasControls(value),
    'must have no line breaks, controls or marks of direction',
  );
}

/**
 * Options by RFC 5322: also a host without a top-level domain, an underscore in it, an address in brackets; ASCII
 * before the @.
 */
const EMAIL = { allow_ip_domain: true, require_tld: false, allow_underscores: true, allow_utf8_local_part: false };

/** A payer's e-mail to which a receipt can be sent, so that no receipt fails later. */
export function IsEmailAddress(): PropertyDecorator {
  return IsEmail(EMAIL, { message: 'must be an e-mail address' });
}

/** An id, bare or with one of the prefixes. @param what noun for the message, for example `the id of a charge` */
export function IsIdOf(what: string, ...prefixes: string[]): PropertyDecorator {
  return applyDecorators(
    ReadsIds(),
    ApiProperty(idForm(...prefixes)),
    rule(
      'isIdOf',
      (value) =>
        typeof value === 'string' &&
        ['', ...prefixes].some((one) => value.startsWith(one) && isUuid(value.slice(one.length))),
      `must be ${what}`,
    ),
  );
}

/** A field with a UUID in it, which callers may send in capitals. */
export function ReadsIds(): PropertyDecorator {
  return Reads((sent) => (typeof sent === 'string' ? withSmallUuids(sent) : sent));
}

/** Counts code points: an emoji is one character. */
const charactersOf = (text: string): number => [...text].length;

const MAX_METADATA_BYTES = 16 * 1024;
const MAX_METADATA_DEPTH = 5;
/** A JSON value of two characters can cost 100 bytes of memory, and each is parsed, copied and written many times. */
const MAX_METADATA_VALUES = 500;

/** An object of at most 16 KiB as JSON, 500 values and 5 levels (docs/contract.md#metadata-and-texts). */
export function IsMetadata(): PropertyDecorator {
  return rule(
    'isMetadata',
    (value) =>
      value !== null &&
      typeof value === 'object' &&
      !Array.isArray(value) &&
      depthOf(value) <= MAX_METADATA_DEPTH &&
      valuesOf(value) <= MAX_METADATA_VALUES &&
      Buffer.byteLength(JSON.stringify(value)) <= MAX_METADATA_BYTES,
    'must be an object of at most 16 KiB as JSON, 500 values and 5 levels',
  );
}

/**
 * A filter `metadata[key]=value` of a query: 1 to 5 keys of at most 100 characters, each with one text of at most 500.
 */
export function IsMetadataFilter(): PropertyDecorator {
  return rule(
    'isMetadataFilter',
    (value) => {
      if (value === null || typeof value !== 'object') return false;
      const entries = Object.entries(value);
      const isFilter = ([key, text]: [string, unknown]): boolean =>
        key.length <= 100 && typeof text === 'string' && charactersOf(text) <= 500;
      return entries.length <= 5 && entries.every(isFilter);
    },
    'is written metadata[key]=value, at most 5 times, each key once; values have at most 500 characters',
  );
}

/** Counts texts, numbers, literals, objects and lists within an object or list, whose levels are bounded. */
function valuesOf(value: object): number {
  return Object.values(value).reduce(
    (sum: number, inner: unknown) => sum + 1 + (inner !== null && typeof inner === 'object' ? valuesOf(inner) : 0),
    0,
  );
}

/** Counts levels of objects and arrays; a text or number has none. */
export function depthOf(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Object.values(value).reduce((deepest: number, inner) => Math.max(deepest, depthOf(inner)), 0);
}
