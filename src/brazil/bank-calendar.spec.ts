import { describe, expect, it } from '@jest/globals';
import {
  bankBusinessDayFrom,
  businessDayWindow,
  isBankBusinessDay,
  saoPauloDay,
  saoPauloDayBounds,
  saoPauloMonthBounds,
} from './index.js';

/** Every weekday of the year on which banks are closed. */
function closedWeekdays(year: number): string[] {
  const found: string[] = [];
  for (let time = Date.UTC(year, 0, 1); time < Date.UTC(year + 1, 0, 1); time += 86_400_000) {
    const date = new Date(time);
    const day = date.toISOString().slice(0, 10);
    const weekend = date.getUTCDay() % 6 === 0;
    if (weekend) expect({ day, open: isBankBusinessDay(day) }).toEqual({ day, open: false });
    else if (!isBankBusinessDay(day)) found.push(day.slice(5));
  }
  return found;
}

/** From the calendars that ANBIMA and FEBRABAN publish; holidays on a weekend are left out. */
const CLOSED: Readonly<Record<number, string[]>> = {
  2001: ['01-01', '02-26', '02-27', '04-13', '05-01', '06-14', '09-07', '10-12', '11-02', '11-15', '12-25'],
  2008: ['01-01', '02-04', '02-05', '03-21', '04-21', '05-01', '05-22', '12-25'],
  2019: ['01-01', '03-04', '03-05', '04-19', '05-01', '06-20', '11-15', '12-25'],
  2022: ['02-28', '03-01', '04-15', '04-21', '06-16', '09-07', '10-12', '11-02', '11-15'],
  2023: ['02-20', '02-21', '04-07', '04-21', '05-01', '06-08', '09-07', '10-12', '11-02', '11-15', '12-25'],
  2024: ['01-01', '02-12', '02-13', '03-29', '05-01', '05-30', '11-15', '11-20', '12-25'],
  2025: ['01-01', '03-03', '03-04', '04-18', '04-21', '05-01', '06-19', '11-20', '12-25'],
  2026: ['01-01', '02-16', '02-17', '04-03', '04-21', '05-01', '06-04', '09-07', '10-12', '11-02', '11-20', '12-25'],
  2028: ['02-28', '02-29', '04-14', '04-21', '05-01', '06-15', '09-07', '10-12', '11-02', '11-15', '11-20', '12-25'],
  2031: ['01-01', '02-24', '02-25', '04-11', '04-21', '05-01', '06-12', '11-20', '12-25'],
  // The latest and the earliest possible Easter: 25 April and 22 March.
  2038: ['01-01', '03-08', '03-09', '04-21', '04-23', '06-24', '09-07', '10-12', '11-02', '11-15'],
  2285: ['01-01', '02-02', '02-03', '03-20', '04-21', '05-01', '05-21', '09-07', '10-12', '11-02', '11-20', '12-25'],
};

describe('the bank calendar', () => {
  it.each(Object.entries(CLOSED))('closes the banks in %s on these weekdays: %j', (year, days) => {
    expect(closedWeekdays(Number(year))).toEqual(days);
  });

  it('keeps banks open on Ash Wednesday, Holy Thursday and the last days of the year', () => {
    for (const day of ['2026-02-18', '2026-04-02', '2026-12-24', '2026-12-31']) {
      expect({ day, open: isBankBusinessDay(day) }).toEqual({ day, open: true });
    }
  });

  it('closes the banks on the day of Black Consciousness from 2024 on', () => {
    expect(isBankBusinessDay('2023-11-20')).toBe(true);
    expect(isBankBusinessDay('2024-11-20')).toBe(false);
  });

  it('refuses a text that is not a day', () => {
    for (const day of ['', '2026-2-1', '2026-13-01', 'today', '2026-01-01T00:00:00Z']) {
      expect(() => isBankBusinessDay(day)).toThrow(RangeError);
    }
  });
});

describe('the next day of the banks', () => {
  it.each([
    ['2026-11-19', '2026-11-19', 'a business day'],
    ['2026-11-20', '2026-11-23', 'Black Consciousness on a Friday'],
    ['2026-11-21', '2026-11-23', 'a Saturday'],
    ['2026-02-14', '2026-02-18', 'the Saturday before Carnival'],
    ['2023-12-30', '2024-01-02', 'the end of a year on a weekend'],
  ])('from %s on is %s: %s', (day, expected) => {
    expect(bankBusinessDayFrom(day)).toBe(expected);
  });
});

describe('a window of business days', () => {
  it.each([
    { what: 'a Wednesday by itself', today: '2026-11-25', days: 1, from: '2026-11-25' },
    { what: 'a week with Black Consciousness on its Friday', today: '2026-11-25', days: 7, from: '2026-11-16' },
    { what: 'a Sunday: back to the Thursday before a Friday off', today: '2026-11-22', days: 1, from: '2026-11-19' },
    { what: 'a holiday: the day before it', today: '2026-11-20', days: 1, from: '2026-11-19' },
    { what: 'over Carnival', today: '2026-02-18', days: 2, from: '2026-02-13' },
    { what: 'over the turn of the year', today: '2027-01-04', days: 3, from: '2026-12-30' },
    { what: 'over Easter', today: '2026-04-06', days: 2, from: '2026-04-02' },
    { what: 'a year of the banks, 249 days', today: '2026-12-31', days: 249, from: '2026-01-02' },
  ])('begins on $from for $days days up to $today: $what', ({ today, days, from }) => {
    const window = businessDayWindow(today, days);
    expect(window[0]).toBe(from);
    expect(window.at(-1)).toBe(today);
    expect(window.filter(isBankBusinessDay)).toHaveLength(days);
  });

  it('has every day once, even when São Paulo changed its clocks', () => {
    const window = businessDayWindow('2019-02-18', 200);
    expect(window).toEqual([...new Set(window)].sort());
    expect((Date.parse(window.at(-1) ?? '') - Date.parse(window[0] ?? '')) / 86_400_000).toBe(window.length - 1);
  });

  it('goes back fourteen years', () => {
    const window = businessDayWindow('2026-11-21', 3_660);
    expect(window.filter(isBankBusinessDay)).toHaveLength(3_660);
    expect(window[0]).toBe('2012-04-24');
  });
});

describe('a day of São Paulo', () => {
  it.each([
    ['2026-11-21T02:59:59.999Z', '2026-11-20'],
    ['2026-11-21T03:00:00.000Z', '2026-11-21'],
    // Summer time, two hours behind UTC.
    ['2018-12-01T01:59:59.999Z', '2018-11-30'],
    ['2018-12-01T02:00:00.000Z', '2018-12-01'],
  ])('contains the instant %s: it is %s', (at, day) => {
    expect(saoPauloDay(new Date(at))).toBe(day);
  });

  it.each([
    ['2026-11-21', '2026-11-21T03:00:00.000Z', '2026-11-22T03:00:00.000Z'],
    // Summer time began at midnight: the day began at 01:00, and had 23 hours.
    ['2018-11-04', '2018-11-04T03:00:00.000Z', '2018-11-05T02:00:00.000Z'],
  ])('%s lasts from %s to %s', (day, from, to) => {
    expect(saoPauloDayBounds(day)).toEqual({ from: new Date(from), to: new Date(to) });
  });
});

describe('a month in São Paulo', () => {
  it.each([
    ['2026-11', '2026-11-01T03:00:00.000Z', '2026-12-01T03:00:00.000Z'],
    ['2026-12', '2026-12-01T03:00:00.000Z', '2027-01-01T03:00:00.000Z'],
    // Into summer time.
    ['2018-11', '2018-11-01T03:00:00.000Z', '2018-12-01T02:00:00.000Z'],
  ])('%s lasts from %s to %s', (month, from, to) => {
    expect(saoPauloMonthBounds(month)).toEqual({ from: new Date(from), to: new Date(to) });
  });
});
