import { type Day, saoPauloDay } from '../../brazil/index.js';
import { type Amount, basisPoints } from '../../core/money/index.js';

/** What PSPs charge for: a Pix that comes in, and money of one that goes back. */
export const FEE_OPERATIONS = ['PIX', 'devolution'] as const;

export type FeeOperation = (typeof FEE_OPERATIONS)[number];

/** What a PSP charges for an operation from a day in São Paulo on, until another schedule begins. Amounts in cents. */
export interface FeeSchedule {
  readonly operation: FeeOperation;
  readonly validFrom: Day;
  readonly bps: number;
  readonly fixed: Amount;
  readonly minimum: Amount;
  /** Null: none. */
  readonly maximum: Amount | null;
}

/**
 * The fee that the PSP charges and API Pix does not tell: the basis points, rounded half up, and the fixed part, within
 * the least and the most. It may be more than the amount.
 * @param schedules by their first days; of two of one day the later one holds
 */
export function providerFee(
  schedules: readonly FeeSchedule[],
  operation: FeeOperation,
  amount: Amount,
  at: Date,
): Amount {
  const day = saoPauloDay(at);
  const held = schedules.findLast((schedule) => schedule.operation === operation && schedule.validFrom <= day);
  if (!held) return 0;
  const charged = Math.max(basisPoints(amount, held.bps) + held.fixed, held.minimum);
  return held.maximum === null ? charged : Math.min(charged, held.maximum);
}
