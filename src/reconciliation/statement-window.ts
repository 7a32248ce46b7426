import { HOUR_MS } from '../core/clock.js';
import type { StatementList } from './statements.entity.js';
import type { Progress } from './statements.repository.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;

interface Rhythm {
  /** The pause from the end of one pass to the start of the next. */
  readonly pauseMs: number;
  /** How long a time is read in one go: after an outage there are many goes. */
  readonly windowMs: number;
  /** A pass begins so long ago; null: where the last one has ended. */
  readonly reachMs: number | null;
}

const RHYTHMS: Readonly<Record<StatementList, Rhythm>> = {
  payments: { pauseMs: MINUTE_MS, windowMs: HOUR_MS, reachMs: null },
  // After an incident at the acquirer its list may be completed hours later.
  late_payments: { pauseMs: DAY_MS, windowMs: 6 * HOUR_MS, reachMs: 3 * DAY_MS },
  // For so long after a Pix its money may go back: a devolution, and a dispute (MED).
  returns: { pauseMs: DAY_MS, windowMs: 5 * DAY_MS, reachMs: 90 * DAY_MS },
};
/** A Pix stands in the list some time after its own time, and clocks differ. */
const OVERLAP_MS = 10 * MINUTE_MS;
const LONGEST_PAUSE_MS = 10 * MINUTE_MS;

/** The window whose Pix are read next. `to` is not included. */
export interface Window {
  readonly from: Date;
  readonly to: Date;
}

/** What to read next of a list. */
export function windowOf({ list, sweptUntil, resumeAt }: Progress, now: Date): Window {
  const { windowMs, reachMs } = RHYTHMS[list];
  const start = reachMs === null ? (sweptUntil ?? now).getTime() - OVERLAP_MS : now.getTime() - reachMs;
  const from = resumeAt?.getTime() ?? start;
  return { from: new Date(from), to: new Date(Math.min(from + windowMs, endOf(list, now))) };
}

/** What is not late yet is for the list that is read all the time. */
function endOf(list: StatementList, now: Date): number {
  return now.getTime() - (list === 'late_payments' ? OVERLAP_MS : 0);
}

/** The progress after a window was read whole. A pass that has not come to its end goes on at once. */
export function afterRead(progress: Progress, { to }: Window, now: Date): Omit<Progress, 'acquirer' | 'list'> {
  const isLast = to.getTime() >= endOf(progress.list, now);
  if (!isLast) return { sweptUntil: progress.sweptUntil, resumeAt: to, nextDueAt: now, attempts: 0 };
  const nextDueAt = new Date(now.getTime() + RHYTHMS[progress.list].pauseMs);
  return { sweptUntil: to, resumeAt: null, nextDueAt, attempts: 0 };
}

/** The progress after a window that could not be read to its end: it is read again, after growing pauses. */
export function afterFailure({ sweptUntil, resumeAt, attempts }: Progress, now: Date): ReturnType<typeof afterRead> {
  const pauseMs = Math.min(MINUTE_MS * 2 ** Math.min(attempts, 10), LONGEST_PAUSE_MS);
  return { sweptUntil, resumeAt, nextDueAt: new Date(now.getTime() + pauseMs), attempts: attempts + 1 };
}
