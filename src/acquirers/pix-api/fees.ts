import { type Day, saoPauloDay } from '../../brazil/index.js';
import { type Amount, basisPoints } from '../../core/money/index.js';

/** Operations with a fee: an incoming Pix, a devolution, and a Pix that is sent, also for a cashout. */
export const FEE_OPERATIONS = ['PIX', 'devolution', 'payout'] as const;

export type FeeOperation = (typeof FEE_OPERATIONS)[number];

/** A PSP's fee for an operation from a day in São Paulo on, until another schedule begins. Amounts in cents. */
export interface FeeSchedule {
  readonly operation: FeeOperation;
  readonly validFrom: Day;
  readonly bps: number;
  readonly fixed: Amount;
  readonly minimum: Amount;
  /** Null: no maximum. */
  readonly maximum: Amount | null;
}

/**
 * The fee of the PSP, which API Pix does not report: basis points, rounded half up, plus the fixed part, within minimum
 * and maximum. The fee may exceed the amount.
 * @param schedules by their first days; if two begin on one day, the later one counts
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
