import { HOUR_MS } from '../core/clock.js';
import type { StatementList } from './statements.entity.js';
import type { Progress } from './statements.repository.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;

interface Rhythm {
  /** The pause from the end of one pass to the start of the next. */
  readonly pauseMs: number;
  /** Length of the time that is read in one go: after an outage there are many goes. */
  readonly windowMs: number;
  /** How far back a pass begins; null: where the last pass ended. */
  readonly reachMs: number | null;
}

const RHYTHMS: Readonly<Record<StatementList, Rhythm>> = {
  payments: { pauseMs: MINUTE_MS, windowMs: HOUR_MS, reachMs: null },
  // After an incident, an acquirer may complete its list hours later.
  late_payments: { pauseMs: DAY_MS, windowMs: 6 * HOUR_MS, reachMs: 3 * DAY_MS },
  // How long after a Pix its money may go back: by a devolution, or a dispute (MED).
  returns: { pauseMs: DAY_MS, windowMs: 5 * DAY_MS, reachMs: 90 * DAY_MS },
  // A return is listed at the time of its payout, and nearly all of them come within minutes.
  payouts: { pauseMs: HOUR_MS, windowMs: DAY_MS, reachMs: 2 * DAY_MS },
  // A PSP lists no returns alone: 90 days of its payouts, at most 6 hours a page, would be 360 calls a day.
  late_payouts: { pauseMs: DAY_MS, windowMs: 5 * DAY_MS, reachMs: 30 * DAY_MS },
};
/** A Pix may appear in the list some time after its own time, and clocks differ. */
const OVERLAP_MS = 10 * MINUTE_MS;
const LONGEST_PAUSE_MS = 10 * MINUTE_MS;

/** The window whose Pix are read next. `to` is excluded. */
export interface Window {
  readonly from: Date;
  readonly to: Date;
}

/** The next window of a list to read. */
export function windowOf({ list, sweptUntil, resumeAt }: Progress, now: Date): Window {
  const { windowMs, reachMs } = RHYTHMS[list];
  const start = reachMs === null ? (sweptUntil ?? now).getTime() - OVERLAP_MS : now.getTime() - reachMs;
  const from = resumeAt?.getTime() ?? start;
  return { from: new Date(from), to: new Date(Math.min(from + windowMs, endOf(list, now))) };
}

/** Why late payments end earlier: fresh Pix are read by the list `payments`, every minute. */
function endOf(list: StatementList, now: Date): number {
  return now.getTime() - (list === 'late_payments' ? OVERLAP_MS : 0);
}

/** The progress after a window was read completely. If the pass has not ended, it continues at once. */
export function afterRead(progress: Progress, { to }: Window, now: Date): Omit<Progress, 'acquirer' | 'list'> {
  const isLast = to.getTime() >= endOf(progress.list, now);
  if (!isLast) return { sweptUntil: progress.sweptUntil, resumeAt: to, nextDueAt: now, attempts: 0 };
  const nextDueAt = new Date(now.getTime() + RHYTHMS[progress.list].pauseMs);
  return { sweptUntil: to, resumeAt: null, nextDueAt, attempts: 0 };
}

/** The progress after a window that could not be read to its end: retried after growing pauses. */
export function afterFailure({ sweptUntil, resumeAt, attempts }: Progress, now: Date): ReturnType<typeof afterRead> {
  const pauseMs = Math.min(MINUTE_MS * 2 ** Math.min(attempts, 10), LONGEST_PAUSE_MS);
  return { sweptUntil, resumeAt, nextDueAt: new Date(now.getTime() + pauseMs), attempts: attempts + 1 };
}
