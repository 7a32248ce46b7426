import { applyDecorators } from '@nestjs/common';
import { isDay, saoPauloDayBounds } from '../../brazil/index.js';
import { OptionalField, rule } from './validators.js';

/** An instant with its zone: without one a time would be read in the server's zone. Offsets are those that clocks have had. */
const INSTANT =
  /^(?<day>\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))$/;
/** Finer than what times are kept in. */
const BELOW_MILLISECONDS = /\.\d{3,}[1-9]/;

/** The milliseconds that a date of a request stands for, both included. */
interface DateSpan {
  readonly first: Date;
  readonly last: Date;
}

/**
 * An instant, or a day, which stands for the whole of it in São Paulo (docs/contract.md#dates-in-queries).
 * @returns null for what is neither, dates that no calendar has among it
 */
function spanOf(text: string): DateSpan | null {
  if (isDay(text)) {
    const { from, to } = saoPauloDayBounds(text);
    return { first: from, last: new Date(to.getTime() - 1) };
  }
  const day = INSTANT.exec(text)?.groups?.['day'];
  if (day === undefined || !isDay(day)) return null;
  const last = Date.parse(text);
  // Between two milliseconds nothing is ever made: what is not before it begins with the next one.
  return { first: new Date(BELOW_MILLISECONDS.test(text) ? last + 1 : last), last: new Date(last) };
}

/** The first millisecond that is not before a date that `IsDayOrInstant` has let pass. */
export function firstInstantOf(date: string): Date {
  return valid(date).first;
}

/** The last millisecond that is not after a date that `IsDayOrInstant` has let pass. */
export function lastInstantOf(date: string): Date {
  return valid(date).last;
}

function valid(date: string): DateSpan {
  const span = spanOf(date);
  if (!span) throw new RangeError(`"${date}" is no date`);
  return span;
}

/**
 * A day or an instant of ISO 8601, stricter than the standard: no week dates or basic forms, no 24:00, no leap seconds.
 */
export function IsDayOrInstant(): PropertyDecorator {
  return rule(
    'isDayOrInstant',
    (value) => typeof value === 'string' && spanOf(value) !== null,
    'must be a date-time of the calendar with its zone, as in 2026-11-21T15:30:00Z or 2026-11-21T12:30:00-03:00, or a day, as in 2026-11-21',
  );
}

/** What the OpenAPI document says of it. */
export const DAY_OR_INSTANT = {
  anyOf: [
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date' },
  ],
};

/** A date of a query. */
export function QueryDate(description: string): PropertyDecorator {
  return applyDecorators(
    OptionalField({
      description: `${description} An instant with its zone, or a day, which is the whole of it in São Paulo.`,
      ...DAY_OR_INSTANT,
    }),
    IsDayOrInstant(),
  );
}
