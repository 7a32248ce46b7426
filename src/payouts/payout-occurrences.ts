import type { PayoutSchedule } from '../accounts/index.js';
import { bankBusinessDayFrom, type Day, fromSaoPauloLocal, plusDays, saoPauloDay } from '../brazil/index.js';
import { DAY_MS } from '../core/clock.js';

/** Longer than the time between two occurrences of any schedule. */
const LOOK_BACK_MS = 62 * DAY_MS;

/** The part of a schedule that decides about times. */
export type Timing = Pick<PayoutSchedule, 'every' | 'on' | 'at'>;

export interface Occurrences {
  /** The last occurrence that has come and is not over; null: there is none. Earlier missed occurrences are given up. */
  readonly due: Date | null;
  /** The first occurrence that has not come yet. */
  readonly next: Date;
}

/** @param after occurrences up to this time are over */
export function occurrencesOf(timing: Timing, after: Date, now: Date): Occurrences {
  let next = occurrenceAfter(timing, new Date(Math.max(after.getTime(), now.getTime() - LOOK_BACK_MS)));
  let due: Date | null = null;
  while (next <= now) {
    due = next;
    next = occurrenceAfter(timing, next);
  }
  return { due, next };
}

function occurrenceAfter(timing: Timing, after: Date): Date {
  const today = saoPauloDay(after);
  // Begins one period earlier: its day may have moved past `after`, to the next day of the banks.
  for (let period = -1; ; period++) {
    const day = bankBusinessDayFrom(dayOf(timing, today, period));
    // A time that clocks skip becomes the same time after the gap.
    const occurrence = fromSaoPauloLocal(new Date(`${day}T${timing.at}:00Z`));
    if (occurrence > after) return occurrence;
  }
}

/** @returns the day as the schedule names it, in the period that is so many after that of `today` */
function dayOf({ every, on }: Timing, today: Day, period: number): Day {
  const date = new Date(`${today}T00:00:00Z`);
  switch (every) {
    case 'day':
      return plusDays(today, period);
    case 'week': {
      const sinceMonday = (date.getUTCDay() + 6) % 7;
      return plusDays(today, 7 * period + (on ?? 1) - 1 - sinceMonday);
    }
    case 'month': {
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + period];
      const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
      const first = new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10);
      return plusDays(first, Math.min(on ?? 1, lastDay) - 1);
    }
  }
}
