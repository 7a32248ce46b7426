import { Injectable } from '@nestjs/common';

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;

/** How much the clocks of our own machines may differ. */
export const CLOCK_SKEW_SECONDS = 60;

/** The only source of "now", so that a test can move time instead of waiting for it. */
@Injectable()
export class Clock {
  /**
   * How far the time was moved, by a test or for the demo's month; what is reckoned by the clock of the database must be
   * moved as well.
   */
  offsetMs = 0;

  now(): Date {
    return new Date(Date.now() + this.offsetMs);
  }
}

/** When the hour of a time began. */
export function hourOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS);
}
