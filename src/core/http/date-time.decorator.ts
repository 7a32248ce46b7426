import { buildMessage, ValidateBy } from 'class-validator';

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
