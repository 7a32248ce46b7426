import { applyDecorators } from '@nestjs/common';
import { isDay, saoPauloDayBounds } from '../../brazil/index.js';
import { FromText } from './query-fields.js';
import { OptionalField, rule } from './validators.js';

/**
 * An instant with its zone: without a zone it would be read in the server's zone. Only offsets that clocks have had are
 * allowed.
 */
const INSTANT =
  /^(?<day>\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))$/;
/** A fraction finer than the stored precision of times. */
const BELOW_MILLISECONDS = /\.\d{3,}[1-9]/;
const MESSAGE =
  'must be a date-time of the calendar with its zone, as in 2026-11-21T15:30:00Z or 2026-11-21T12:30:00-03:00, or a day, as in 2026-11-21';

/** First and last millisecond of a date of a request, both included. */
interface DateSpan {
  readonly first: Date;
  readonly last: Date;
}

/**
 * Parses an instant, or a day, which means the whole day in São Paulo (docs/contract.md#dates-in-queries).
 * @returns null for any other text, including dates that no calendar has
 */
function spanOf(text: string): DateSpan | null {
  if (isDay(text)) {
    const { from, to } = saoPauloDayBounds(text);
    return { first: from, last: new Date(to.getTime() - 1) };
  }
  const day = INSTANT.exec(text)?.groups?.['day'];
  if (day === undefined || !isDay(day)) return null;
  const last = Date.parse(text);
  // Stored times have whole milliseconds: a lower bound between two milliseconds begins with the later one.
  return { first: new Date(BELOW_MILLISECONDS.test(text) ? last + 1 : last), last: new Date(last) };
}

/** Returns the first millisecond that is not before the date. @param date checked by `IsDayOrInstant` */
export function firstInstantOf(date: string): Date {
  return valid(date).first;
}

/** Returns the last millisecond that is not after the date. @param date checked by `IsDayOrInstant` */
export function lastInstantOf(date: string): Date {
  return valid(date).last;
}

function valid(date: string): DateSpan {
  const span = spanOf(date);
  if (!span) throw new RangeError(`"${date}" is no date`);
  return span;
}

/**
 * Accepts a day or an instant of ISO 8601, stricter than the standard: no week dates or basic forms, no 24:00, no leap
 * seconds.
 */
export function IsDayOrInstant(): PropertyDecorator {
  return rule('isDayOrInstant', (value) => typeof value === 'string' && spanOf(value) !== null, MESSAGE);
}

/** Schema of a day or an instant in the OpenAPI document. */
export const DAY_OR_INSTANT = {
  anyOf: [
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date' },
  ],
};

/** A date of a query. @param end the instant that a day stands for: its first or its last millisecond */
export function QueryDate(description: string, end: keyof DateSpan): PropertyDecorator {
  return applyDecorators(
    OptionalField({
      description: `${description} An instant with its zone, or a day, which is the whole of it in São Paulo.`,
      ...DAY_OR_INSTANT,
      type: String, // of a Date the document would say that it is a date-time
    }),
    FromText((text) => spanOf(text)?.[end]),
    rule('isQueryDate', (value) => value instanceof Date, MESSAGE),
  );
}
