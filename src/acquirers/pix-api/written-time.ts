/** Times as PSPs write them: with a zone, without one, or as the local time of São Paulo wrongly marked as UTC. */
import { fromSaoPauloLocal } from '../../brazil/index.js';

/** The instants that a written time may mean, the likeliest first. */
export type WrittenTime = readonly [Date, ...Date[]];

const YEAR_FIRST =
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})[Tt ](?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?(?: ?(?<zone>[Zz]|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?(?:\[[\w/+-]{1,40}\])?$/;
const DAY_FIRST =
  /^(?<day>\d{2})\/(?<month>\d{2})\/(?<year>\d{4})[Tt ](?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?$/;

/**
 * Reads a time. An offset gives one instant. UTC may be the local time of São Paulo, marked by mistake. Without a zone
 * the time is that local time, or UTC.
 * @returns null for a text that is not a date with a time
 */
export function readTime(text: string): WrittenTime | null {
  const parts = (YEAR_FIRST.exec(text) ?? DAY_FIRST.exec(text))?.groups;
  if (!parts) return null;
  const { year, month, day, hour, minute, second = '00', fraction = '', zone } = parts;
  const written = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const wall = new Date(written);
  // Date reads 31 February as 3 March: only a date that is written back unchanged was valid.
  if (Number.isNaN(wall.getTime()) || wall.toISOString() !== written) return null;
  if (zone === undefined) return [fromSaoPauloLocal(wall), wall];
  const offset = offsetMs(zone);
  if (offset === null) return null;
  return offset === 0 ? [wall, fromSaoPauloLocal(wall)] : [new Date(wall.getTime() - offset)];
}

/** @returns null for an offset that no clock has */
function offsetMs(zone: string): number | null {
  const match = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone);
  if (!match) return 0;
  const [, sign, hours, minutes = '00'] = match;
  if (Number(hours) > 14 || Number(minutes) > 59) return null;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Maximum difference between the clocks of two banks. */
const SKEW_MS = 5 * 60_000;

/**
 * The instant at which a Pix was settled, by the minute (UTC) in which its end-to-end id was made. The instant is never
 * before that minute; of two instants the nearer one counts.
 */
export function byMinute(time: WrittenTime, minute: Date | null): Date {
  if (minute === null) return time[0];
  const distance = (at: Date): number => at.getTime() - minute.getTime();
  const [nearest] = time.filter((at) => distance(at) >= -SKEW_MS).sort((one, other) => distance(one) - distance(other));
  return nearest ?? time[0];
}

/** The likeliest instant that is not before an earlier event of the same payment. */
export function notBefore(time: WrittenTime, earlier: Date): Date {
  return time.find((at) => at.getTime() >= earlier.getTime() - SKEW_MS) ?? time[0];
}

export function earliest(time: WrittenTime): Date {
  return new Date(Math.min(...time.map((at) => at.getTime())));
}

/** The latest instant that is not in the future. */
export function latestPast(time: WrittenTime, now: Date): Date {
  const past = time.filter((at) => at.getTime() <= now.getTime() + SKEW_MS);
  return past.length === 0 ? earliest(time) : new Date(Math.max(...past.map((at) => at.getTime())));
}
