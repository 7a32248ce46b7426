import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { releaseTimeOf, SAO_PAULO, saoPauloTime } from './index.js';
import { scaled } from '../../test/support/scale.js';

/** The wall clock by Intl, whose tz database is independent. */
const WALL = new Intl.DateTimeFormat('sv-SE', {
  timeZone: SAO_PAULO,
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});
const dayOf = (at: Date): string => WALL.format(at).slice(0, 10);
const plusDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

describe('releaseTimeOf', () => {
  it.each([
    ['at noon', '2026-11-20T15:00:00.000Z', 1, '2026-11-21T03:00:00.000Z'],
    ['thirty days', '2026-11-20T15:00:00.000Z', 30, '2026-12-20T03:00:00.000Z'],
    ['the last instant of a day', '2026-11-21T02:59:59.999Z', 1, '2026-11-21T03:00:00.000Z'],
    ['the first instant of a day', '2026-11-21T03:00:00.000Z', 1, '2026-11-22T03:00:00.000Z'],
    ['already tomorrow in UTC', '2026-11-21T00:30:00.000Z', 1, '2026-11-21T03:00:00.000Z'],
    ['month end', '2026-11-30T20:00:00.000Z', 1, '2026-12-01T03:00:00.000Z'],
    ['year end, next year in UTC', '2027-01-01T02:00:00.000Z', 1, '2027-01-01T03:00:00.000Z'],
    ['31 January and 28 days', '2026-01-31T12:00:00.000Z', 28, '2026-02-28T03:00:00.000Z'],
    ['into a leap day', '2028-02-28T12:00:00.000Z', 1, '2028-02-29T03:00:00.000Z'],
    ['over a leap day', '2028-02-28T12:00:00.000Z', 2, '2028-03-01T03:00:00.000Z'],
    ['over no leap day', '2026-02-28T12:00:00.000Z', 1, '2026-03-01T03:00:00.000Z'],
    ['a year from a leap day', '2028-02-29T12:00:00.000Z', 365, '2029-02-28T03:00:00.000Z'],
    // Summer time, abolished in 2019: clocks went from 00:00 to 01:00, so that day had no midnight.
    ['into the day summer time began', '2018-11-03T15:00:00.000Z', 1, '2018-11-04T03:00:00.000Z'],
    ['on the day summer time began', '2018-11-04T15:00:00.000Z', 1, '2018-11-05T02:00:00.000Z'],
    ['in summer time', '2019-01-10T15:00:00.000Z', 1, '2019-01-11T02:00:00.000Z'],
    // At 00:00 clocks went back to 23:00: the hour before midnight came twice, midnight once.
    ['in the first of two hours before midnight', '2019-02-17T01:30:00.000Z', 1, '2019-02-17T03:00:00.000Z'],
    ['in the second of them', '2019-02-17T02:30:00.000Z', 1, '2019-02-17T03:00:00.000Z'],
    ['over the end of summer time', '2019-02-15T15:00:00.000Z', 3, '2019-02-18T03:00:00.000Z'],
    ['a November without summer time', '2019-11-03T15:00:00.000Z', 1, '2019-11-04T03:00:00.000Z'],
  ])('releases after %s: paid at %s with %d days, at %s', (_case, paidAt, days, expected) => {
    expect(releaseTimeOf(new Date(paidAt), days).toISOString()).toBe(expected);
  });

  it('is the time of the payment for 0 days, as a new date object', () => {
    const paidAt = new Date('2026-11-20T15:00:00.123Z');
    const release = releaseTimeOf(paidAt, 0);
    expect(release).toEqual(paidAt);
    expect(release).not.toBe(paidAt);
  });

  it('is the first instant of the n-th wall-clock day, at any time of any year', () => {
    const moments = fc.date({ min: new Date('1990-01-01'), max: new Date('2060-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(moments, fc.integer({ min: 1, max: 400 }), (paidAt, days) => {
        const release = releaseTimeOf(paidAt, days);
        const day = plusDays(dayOf(paidAt), days);
        expect(dayOf(release)).toBe(day);
        expect(dayOf(new Date(release.getTime() - 1))).toBe(plusDays(day, -1));
      }),
      { numRuns: scaled(500, 100) },
    );
  });

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d days', (days) => {
    expect(() => releaseTimeOf(new Date(), days)).toThrow(RangeError);
  });

  it('refuses an invalid date', () => {
    expect(() => releaseTimeOf(new Date(Number.NaN), 1)).toThrow(RangeError);
  });
});

describe('saoPauloTime', () => {
  it("uses São Paulo's day and hour, with midnight as 00:00", () => {
    const last = new Date('2026-03-10T02:59:59Z');
    const first = new Date('2026-03-10T03:00:00Z');
    expect(saoPauloTime(last)).toBe('9 de março de 2026 às\u00a023:59');
    expect(saoPauloTime(first)).toBe('10 de março de 2026 às\u00a000:00');
    expect(saoPauloTime(last, 'english')).toBe('9 March 2026 at\u00a023:59');
  });
});
