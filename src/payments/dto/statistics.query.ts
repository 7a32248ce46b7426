import { Matches } from 'class-validator';
import { OptionalEnum, OptionalField, QueryInteger } from '../../core/http/index.js';

const MAX_DAYS = 3_660;
export const DEFAULT_DAYS = 7;

export const BASES = ['created', 'paid'] as const;
export type Basis = (typeof BASES)[number];

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
  @Matches(/^[A-Z0-9]{3,8}$/, { message: 'must be a currency code of 3 to 8 capital letters or digits' })
  currency?: string;
}
