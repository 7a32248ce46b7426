import { DateTime } from 'luxon';
import { SAO_PAULO, saoPauloLocal } from './sao-paulo.js';

/** A calendar day, `YYYY-MM-DD`. */
export type Day = string;

const DAY_MS = 86_400_000;

/** Month and day of the national holidays; `since` is the first year of a recent one. */
const FIXED: readonly { readonly day: string; readonly since?: number }[] = [
  { day: '01-01' }, // Confraternização Universal
  { day: '04-21' }, // Tiradentes
  { day: '05-01' }, // Dia do Trabalho
  { day: '09-07' }, // Independência
  { day: '10-12', since: 1980 }, // Nossa Senhora Aparecida, Lei 6.802/1980
  { day: '11-02' }, // Finados
  { day: '11-15' }, // Proclamação da República
  { day: '11-20', since: 2024 }, // Zumbi e Consciência Negra, Lei 14.759/2023
  { day: '12-25' }, // Natal
];

/** Days from Easter Sunday: Monday and Tuesday of Carnival, Good Friday, Corpus Christi. */
const FROM_EASTER = [-48, -47, -2, 60];

const holidays = new Map<number, ReadonlySet<number>>();

/**
 * Whether Brazil's banks settle on that day. Closed are weekends, national holidays, Carnival's Monday and Tuesday and
 * Corpus Christi. Ash Wednesday, 24 and 31 December are business days; holidays of states and towns do not count.
 * Source: Res. CMN 4.880/2020, as ANBIMA's calendar applies it.
 */
export function isBankBusinessDay(day: Day): boolean {
  return isBusiness(timeOf(day));
}

/** The day itself when banks settle on it, else the next day on which they do. */
export function bankBusinessDayFrom(day: Day): Day {
  let time = timeOf(day);
  while (!isBusiness(time)) time += DAY_MS;
  return dayOf(time);
}

/**
 * The shortest run of calendar days that ends with `today` and has `count` business days. As statistics count, the run
 * begins with a business day. Returns all its days, the oldest first.
 */
export function businessDayWindow(today: Day, count: number): Day[] {
  const last = timeOf(today);
  let first = last;
  for (let left = count - Number(isBusiness(last)); left > 0; left -= Number(isBusiness(first))) first -= DAY_MS;
  return Array.from({ length: (last - first) / DAY_MS + 1 }, (_, index) => dayOf(first + index * DAY_MS));
}

/** The day that is so many days after `day`, or before it. */
export function plusDays(day: Day, days: number): Day {
  return dayOf(timeOf(day) + days * DAY_MS);
}

/** Whether the text is a day of the calendar, of a year from 0001 to 9999. */
export function isDay(text: string): boolean {
  return /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && DateTime.fromISO(text, { zone: 'utc' }).isValid;
}

/** The day in São Paulo at that instant. */
export function saoPauloDay(at: Date): Day {
  return saoPauloLocal(at).slice(0, 10);
}

/** The first instant of a day in São Paulo, and of the day after it. */
export function saoPauloDayBounds(day: Day): { readonly from: Date; readonly to: Date } {
  const start = DateTime.fromISO(day, { zone: SAO_PAULO }).startOf('day');
  return { from: start.toJSDate(), to: start.plus({ days: 1 }).startOf('day').toJSDate() };
}

/** The first instant of a month (`2026-11`) in São Paulo, and of the month after it. */
export function saoPauloMonthBounds(month: string): { readonly from: Date; readonly to: Date } {
  const start = DateTime.fromISO(`${month}-01`, { zone: SAO_PAULO }).startOf('day');
  return { from: start.toJSDate(), to: start.plus({ months: 1 }).startOf('day').toJSDate() };
}

function isBusiness(time: number): boolean {
  const date = new Date(time);
  const weekday = date.getUTCDay();
  return weekday !== 0 && weekday !== 6 && !holidaysOf(date.getUTCFullYear()).has(time);
}

function holidaysOf(year: number): ReadonlySet<number> {
  const known = holidays.get(year);
  if (known) return known;
  const easter = easterOf(year);
  const found = new Set([
    ...FIXED.filter(({ since = 0 }) => year >= since).map(({ day }) =>
      timeOf(`${String(year).padStart(4, '0')}-${day}`),
    ),
    ...FROM_EASTER.map((days) => easter + days * DAY_MS),
  ]);
  holidays.set(year, found);
  return found;
}

/** Easter Sunday of the Gregorian calendar, by the algorithm of Meeus, Jones and Butcher. */
function easterOf(year: number): number {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const f = Math.floor((b + 8) / 25);
  const g = Math.floor((b - f + 1) / 3);
  const h = (19 * a + b - Math.floor(b / 4) - g + 15) % 30;
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const sum = h + l - 7 * m + 114;
  return Date.UTC(year, Math.floor(sum / 31) - 1, (sum % 31) + 1);
}

/** Days are counted in UTC, where each has 24 hours. */
function timeOf(day: Day): number {
  if (!isDay(day)) throw new RangeError(`"${day}" is not a day`);
  return Date.parse(`${day}T00:00:00Z`);
}

function dayOf(time: number): Day {
  return new Date(time).toISOString().slice(0, 10);
}
