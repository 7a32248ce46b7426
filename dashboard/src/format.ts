import { digitsOf } from '../../src/core/money/money.js';

export type Language = 'pt-BR' | 'en';

/** Takes both languages at the place of use: a missing translation does not compile. */
export type Translate = (portuguese: string, english: string) => string;

const numbers = new Map<string, Intl.NumberFormat>();
const times = new Map<string, Intl.DateTimeFormat>();

/** Cached: making a formatter takes longer than a hundred texts, and a page has hundreds. */
function numberFormat(language: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify([language, options]);
  const format = numbers.get(key) ?? new Intl.NumberFormat(language, options);
  numbers.set(key, format);
  return format;
}

/** Cached like `numberFormat`. */
export function timeFormat(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([language, options]);
  const format = times.get(key) ?? new Intl.DateTimeFormat(language, options);
  times.set(key, format);
  return format;
}

/** @param amount amount in the smallest unit */
export function money(amount: number, currency: string, language: Language): string {
  const digits = digitsOf(currency);
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const value = amount / 10 ** digits;
  try {
    return numberFormat(language, { style: 'currency', currency, ...format }).format(value);
  } catch {
    // Intl does not know this currency, such as a cryptocurrency.
    return `${numberFormat(language, format).format(value)} ${currency}`;
  }
}

/** A rounded amount beside an axis: `R$ 1,2 mil`. @param amount amount in the smallest unit */
export function shortMoney(amount: number, currency: string, language: Language): string {
  const value = amount / 10 ** digitsOf(currency);
  const format = { notation: 'compact', maximumFractionDigits: 1 } as const;
  try {
    return numberFormat(language, { style: 'currency', currency, ...format }).format(value);
  } catch {
    return numberFormat(language, format).format(value);
  }
}

/**
 * Parses a typed amount in either notation: `1.234,56`, `1,234.56`, `1234`. Three digits after a single separator are
 * thousands only in the person's own language. In the other notation they might be decimals.
 * @returns the smallest unit; null when the text is not an amount
 */
export function parseAmount(text: string, language: Language): number | null {
  const bare = text.replace(/[R$\s]/g, '');
  const match = /^([1-9]\d{0,2}([.,])\d{3}(?:\2\d{3})*|\d+)(?:([.,])(\d{1,2}))?$/.exec(bare);
  // The separator of thousands cannot also separate the cents.
  if (!match || (match[2] !== undefined && match[2] === match[3])) return null;
  const isAmbiguous = match[2] !== undefined && match[3] === undefined && bare.split(match[2]).length === 2;
  if (isAmbiguous && match[2] !== (language === 'en' ? ',' : '.')) return null;
  const whole = Number((match[1] ?? '').replace(/[.,]/g, ''));
  const amount = whole * 100 + Number((match[4] ?? '').padEnd(2, '0') || 0);
  return Number.isSafeInteger(amount) && amount > 0 ? amount : null;
}

/** The amount as a person would type it. */
export function decimal(amount: number, language: Language): string {
  return numberFormat(language, { minimumFractionDigits: 2, useGrouping: false }).format(amount / 100);
}

const ZONE = 'America/Sao_Paulo';

export function dateTime(at: string, language: Language): string {
  return timeFormat(language, { dateStyle: 'short', timeStyle: 'short', timeZone: ZONE }).format(new Date(at));
}

export function dateTimeSeconds(at: string, language: Language): string {
  return timeFormat(language, { dateStyle: 'short', timeStyle: 'medium', timeZone: ZONE }).format(new Date(at));
}

export function day(at: string | Date, language: Language): string {
  return timeFormat(language, { day: '2-digit', month: 'short', timeZone: ZONE }).format(new Date(at));
}

/** @param date `2026-11-23` */
export function dateOf(date: string, language: Language): string {
  return timeFormat(language, { dateStyle: 'short', timeZone: 'UTC' }).format(new Date(date));
}

/** The day in São Paulo as `2026-11-23`. */
export function isoDay(at: Date): string {
  return timeFormat('sv-SE', { timeZone: ZONE }).format(at);
}

/** Time left in its largest unit: `3 d`, `5 h`, `12 min`; null when it is over. */
export function timeLeft(at: string, now: number): string | null {
  const minutes = Math.floor((new Date(at).getTime() - now) / 60_000);
  if (minutes < 0) return null;
  if (minutes < 60) return `${String(minutes)} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${String(hours)} h` : `${String(Math.floor(hours / 24))} d`;
}

/** Time since then, formatted as `timeLeft`. */
export function timeSince(at: string): string {
  return timeLeft(new Date(2 * Date.now() - new Date(at).getTime()).toISOString(), Date.now()) ?? '0 min';
}

/** Duration in its largest unit: `45 s`, `10 min`, `3 h`. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${String(Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${String(minutes)} min` : `${String(Math.round(minutes / 60))} h`;
}

export function percent(share: number, language: Language): string {
  return numberFormat(language, { style: 'percent', maximumFractionDigits: 2 }).format(share);
}

export function fileSize(bytes: number): string {
  return bytes < 1_048_576 ? `${String(Math.ceil(bytes / 1024))} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}
