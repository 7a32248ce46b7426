import { DateTime } from 'luxon';

/** Brazil's banking calendar runs on this zone; its offset is −03:00 today and was −02:00 in the summers up to 2019. */
export const SAO_PAULO = 'America/Sao_Paulo';

const date = (language: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(language, { timeZone: SAO_PAULO, day: 'numeric', month: 'long', year: 'numeric' });
const WRITTEN = {
  portuguese: { day: date('pt-BR'), between: ' às\u00a0' },
  english: { day: date('en-GB'), between: ' at\u00a0' },
};
const TIME = new Intl.DateTimeFormat('pt-BR', { timeZone: SAO_PAULO, hour: '2-digit', minute: '2-digit' });

/** A time in São Paulo, for people: `9 de março de 2026 às 15:30` or `9 March 2026 at 15:30`. */
export function saoPauloTime(at: Date, language: keyof typeof WRITTEN = 'portuguese'): string {
  const { day, between } = WRITTEN[language];
  return `${day.format(at)}${between}${TIME.format(at)}`;
}

/**
 * The offset of the last hour that was looked up: rows come in the order of their time, and the tz database is slow.
 */
let known = { hour: Number.NaN, offsetMs: 0 };

/** Local time in São Paulo, `2026-11-21T12:30:00`. The books use the day of this time. */
export function saoPauloLocal(at: Date): string {
  const hour = Math.floor(at.getTime() / 3_600_000);
  if (hour !== known.hour) known = { hour, offsetMs: DateTime.fromJSDate(at, { zone: SAO_PAULO }).offset * 60_000 };
  return new Date(at.getTime() + known.offsetMs).toISOString().slice(0, 19);
}

/** The instant at which clocks in São Paulo show what UTC would show at `wall`. */
export function fromSaoPauloLocal(wall: Date): Date {
  return DateTime.fromJSDate(wall, { zone: 'utc' }).setZone(SAO_PAULO, { keepLocalTime: true }).toJSDate();
}

/**
 * When the money of a payment becomes available: the start (00:00, America/Sao_Paulo) of the n-th calendar day after
 * the day of payment in that zone. For `days` 0 it is `paidAt` itself. Nights are counted, not 24-hour spans: a Pix at
 * 23:59 with one day is released a minute later.
 *
 * Computed by the tz database: on a summer-time day that began at 01:00 the release is at 01:00, its first instant.
 * Throws a RangeError for an invalid date or for `days` that are not an integer from 0 up.
 */
export function releaseTimeOf(paidAt: Date, days: number): Date {
  const paid = DateTime.fromJSDate(paidAt, { zone: SAO_PAULO });
  if (!paid.isValid) throw new RangeError('paidAt must be a valid date');
  if (!Number.isSafeInteger(days) || days < 0) throw new RangeError('days must be an integer from 0 up');
  if (days === 0) return new Date(paidAt);
  const release = paid.plus({ days }).startOf('day');
  if (!release.isValid) throw new RangeError('the release time lies outside the calendar');
  return release.toJSDate();
}
