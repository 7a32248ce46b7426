import { buildMessage, ValidateBy, ValidateIf } from 'class-validator';

/**
 * A field that may be left out. Null is not leaving it out, as class-validator's rule of that name has it: where a
 * variable was empty by mistake, `"amount": null` would be a refund of everything.
 */
export function IsOptional(): PropertyDecorator {
  return ValidateIf((_dto: object, value: unknown) => value !== undefined);
}

/** A field that may be left out, and may be null, which its documentation says the meaning of. */
export function IsNullable(): PropertyDecorator {
  return ValidateIf((_dto: object, value: unknown) => value !== undefined && value !== null);
}

const DATE_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * An ISO 8601 date (midnight UTC) or date-time with its zone. Stricter than the standard: week dates and basic forms
 * are not understood by `Date`, and a time without zone would be read in the server's own.
 */
export function IsDateTime(): PropertyDecorator {
  return ValidateBy({
    name: 'isDateTime',
    validator: {
      validate: (value: unknown) =>
        typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)),
      defaultMessage: buildMessage(() => 'must be an ISO 8601 date-time with its zone, as in 2026-11-21T15:30:00Z'),
    },
  });
}

const MAX_METADATA_BYTES = 16 * 1024;
const MAX_METADATA_DEPTH = 5;

/** An object of at most 16 KiB as JSON and 5 levels (decisions §2.7). */
export function IsMetadata(): PropertyDecorator {
  return ValidateBy({
    name: 'isMetadata',
    validator: {
      validate: (value: unknown) =>
        value !== null &&
        typeof value === 'object' &&
        !Array.isArray(value) &&
        depthOf(value) <= MAX_METADATA_DEPTH &&
        Buffer.byteLength(JSON.stringify(value)) <= MAX_METADATA_BYTES,
      defaultMessage: buildMessage(() => 'must be an object of at most 16 KiB as JSON and 5 levels'),
    },
  });
}

/** Levels of objects and arrays; a text or number is none. */
export function depthOf(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Object.values(value).reduce((deepest: number, inner) => Math.max(deepest, depthOf(inner)), 0);
}
