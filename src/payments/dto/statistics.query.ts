import { Matches } from 'class-validator';
import { OptionalEnum, OptionalField, QueryInteger } from '../../core/http/index.js';

const MAX_DAYS = 3_660;
export const DEFAULT_DAYS = 7;

export const BASES = ['created', 'paid'] as const;
export type Basis = (typeof BASES)[number];

const CURRENCY = /^[A-Z0-9]{3,8}$/;
const CURRENCY_MESSAGE = { message: 'must be a currency code of 3 to 8 capital letters or digits' };

export class StatsQuery {
  @QueryInteger(
    'The window: the shortest run of calendar days in São Paulo that ends today and has this many Brazilian bank business days.',
    1,
    MAX_DAYS,
    DEFAULT_DAYS,
  )
  days?: number;

  @OptionalEnum(
    'For which day what was paid counts: the one on which the payment was `created`, or on which it was `paid`. Counts of what was created, and rates, are always of the payments that were created in the window.',
    BASES,
    { default: 'created' },
  )
  basis?: Basis;
}

export class MetricsQuery extends StatsQuery {
  @OptionalField({
    description: 'Only payments in this currency; volumes are plain numbers then.',
    pattern: '^[A-Z0-9]{3,8}$',
    example: 'BRL',
  })
  @Matches(CURRENCY, CURRENCY_MESSAGE)
  currency?: string;
}

const MAX_POINTS = 366;
export const DEFAULT_POINTS = 30;
export const POINT_KINDS = ['calendar', 'bank'] as const;

export class SummaryQuery {
  @QueryInteger('Number of points in `days`.', 1, MAX_POINTS, DEFAULT_POINTS)
  days?: number;

  @OptionalEnum(
    'Whether a point is a calendar day, or a bank day of Brazil with the days without banks that follow it.',
    POINT_KINDS,
    { default: 'calendar' },
  )
  count?: (typeof POINT_KINDS)[number];

  @OptionalField({ description: 'Only payments in this currency.', pattern: CURRENCY.source, default: 'BRL' })
  @Matches(CURRENCY, CURRENCY_MESSAGE)
  currency?: string;
}
