import { DateTime } from 'luxon';
import { SAO_PAULO } from '../../brazil/index.js';

/** The unit in which a piece of time is counted: months, days and hours of São Paulo, and row by row for the rest. */
export type Grain = 'month' | 'day' | 'hour' | 'rest';

export interface Span {
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

export interface Piece extends Span {
  readonly grain: Grain;
}

const FIRST = new Date(0);
/** Later than the time in any UUIDv7 of this service, and still with a year of four digits. */
const LAST = new Date('9999-01-01T00:00:00.000Z');

/** @param from, to inclusive; null for no bound @returns null for an empty span */
export function spanOf(from: Date | null, to: Date | null): Span | null {
  const start = Math.max((from ?? FIRST).getTime(), FIRST.getTime());
  const end = Math.min(to === null ? LAST.getTime() : to.getTime() + 1, LAST.getTime());
  return start < end ? { from: new Date(start), to: new Date(end) } : null;
}

/**
 * Splits the span in order and without gaps: whole months in its middle, whole days around them, then hours and rests.
 */
export function piecesOf({ from, to }: Span, coarsest: Grain = 'month'): Piece[] {
  if (from >= to) return [];
  const finer = FINER[coarsest];
  if (coarsest === 'rest' || finer === null) return [{ grain: 'rest', from, to }];
  const begun = startOf(coarsest, from);
  const first = begun < from ? after(coarsest, begun) : begun;
  const last = startOf(coarsest, to);
  if (first >= last) return piecesOf({ from, to }, finer);
  return [
    ...piecesOf({ from, to: first }, finer),
    { grain: coarsest, from: first, to: last },
    ...piecesOf({ from: last, to }, finer),
  ];
}

/** The next finer unit, to search within a month, a day or an hour. */
export const FINER: Readonly<Record<Grain, Grain | null>> = { month: 'day', day: 'hour', hour: 'rest', rest: null };

/** Returns a whole month, day or hour, by its first instant. */
export function whole(grain: Exclude<Grain, 'rest'>, from: Date): Span {
  return { from, to: after(grain, from) };
}

function startOf(grain: Exclude<Grain, 'rest'>, time: Date): Date {
  return DateTime.fromJSDate(time, { zone: SAO_PAULO }).startOf(grain).toJSDate();
}

function after(grain: Exclude<Grain, 'rest'>, start: Date): Date {
  return DateTime.fromJSDate(start, { zone: SAO_PAULO })
    .plus({ [grain]: 1 })
    .startOf(grain)
    .toJSDate();
}
