import { Matches } from 'class-validator';
import { OptionalField, QueryDate } from '../../core/http/index.js';

/** As the document describes a code. */
export const CURRENCY_FORM = { type: 'string' as const, pattern: '^[A-Z0-9]{3,8}$' };

export function IsCurrencyCode(): PropertyDecorator {
  return Matches(/^[A-Z0-9]{3,8}$/, { message: 'must be a currency code of 3 to 8 capital letters or digits' });
}

export class ReleasesQuery {
  @OptionalField({ description: 'Only this currency.', ...CURRENCY_FORM, example: 'BRL' })
  @IsCurrencyCode()
  currency?: string;
}

export class BalanceQuery {
  @OptionalField({ description: 'Ask for the flat form of this one currency.', ...CURRENCY_FORM, example: 'BRL' })
  @IsCurrencyCode()
  currency?: string;

  @QueryDate('The balance as it was, with all that had been posted by then.', 'last')
  at?: Date;
}
