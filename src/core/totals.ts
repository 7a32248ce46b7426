import { ApiProperty } from '@nestjs/swagger';
import { read, type ReadStatement } from './database/index.js';
import { Integer, Text } from './http/index.js';
import type { Amount } from './money/index.js';

/** Rows of a list that are counted at most, so that the cost does not grow with the list. */
export const MAX_COUNTED = 10_000;

/** Limit of the statement of a list, when it counts instead: one more row shows that there are more. */
export const COUNT_LIMIT = MAX_COUNTED + 1;

/** Count and sum of one currency. */
export interface CurrencyTotal {
  readonly currency: string;
  readonly count: number;
  readonly amount: Amount;
}

/**
 * Returns a statement that counts and sums the rows of a list by the terms of the list itself.
 * @param more columns of the sums, of the rows `x`
 */
export function totalsOf({ name, text }: ReadStatement, more = ''): ReadStatement {
  return read(
    `${name}_totals`,
    `SELECT x.currency, count(*)::int AS count, sum(x.amount)::bigint AS amount${more} FROM (${text}) x
     GROUP BY x.currency ORDER BY x.currency`,
  );
}

export class CurrencyTotalBody {
  @Text('ISO 4217.', 'BRL') currency!: string;
  @Integer('How many.', 32) count!: number;
  @Integer('The sum of their amounts, in the smallest unit.', 123400) amount!: number;
}

export class TotalsBody {
  @Integer(`How many there are, at most ${MAX_COUNTED}.`, 32) count!: number;
  @ApiProperty({ description: 'Whether there are more than `count`.', example: false }) more!: boolean;
  @ApiProperty({ description: 'By currency; empty where there are more.', type: [CurrencyTotalBody] })
  amounts!: CurrencyTotalBody[];
}

/** @param found at most `COUNT_LIMIT` rows, by currency */
export function totalsBody<T extends CurrencyTotal>(found: readonly T[]): TotalsBody & { amounts: T[] } {
  const count = found.reduce((sum, total) => sum + total.count, 0);
  const more = count > MAX_COUNTED;
  return { count: more ? MAX_COUNTED : count, more, amounts: more ? [] : [...found] };
}

/** The cost of an operation that counts a list. */
export const TOTALS_TOKENS = 5;

/** Description of every operation that counts a list. */
export const TOTALS_DESCRIPTION = `Counts and sums what the list shows by the same filters; page, order and cursor have no effect. Of more than ${MAX_COUNTED} there is no sum.`;
