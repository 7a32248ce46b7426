import { describe, expect, it } from '@jest/globals';
import { type Occurrences, occurrencesOf, type Timing } from './payout-occurrences.js';

/** `10:00` of a day is written without its time. */
const DAILY: Timing = { every: 'day', on: null, at: '10:00' };
const weekly = (on: number): Timing => ({ every: 'week', on, at: '10:00' });
const monthly = (on: number): Timing => ({ every: 'month', on, at: '10:00' });

/** A time in São Paulo, −03:00 where no summer time is meant. */
const at = (local: string, offset = '-03:00'): Date =>
  new Date(local.length === 10 ? `${local}T10:00:00${offset}` : `${local}${offset}`);

/** The occurrences after a time, one after the other. */
function following(timing: Timing, after: Date, count: number): string[] {
  const found: Date[] = [];
  while (found.length < count) {
    const last = found.at(-1) ?? after;
    found.push(occurrencesOf(timing, last, last).next);
  }
  return found.map((each) => each.toISOString());
}

const days = (...list: string[]): string[] => list.map((day) => at(day).toISOString());

describe('occurrences of a schedule', () => {
  it.each<[string, Timing, string, string[]]>([
    ['each day, without a weekend', DAILY, '2026-11-26T09:59:59.999', ['2026-11-26', '2026-11-27', '2026-11-30']],
    ['each day, after its time', DAILY, '2026-11-26T10:00:00', ['2026-11-27', '2026-11-30', '2026-12-01']],
    ['each day, over Carnival', DAILY, '2026-02-13T12:00:00', ['2026-02-18', '2026-02-19', '2026-02-20']],
    ['each day, over Black Consciousness', DAILY, '2026-11-19T12:00:00', ['2026-11-23', '2026-11-24', '2026-11-25']],
    ['each day, before Black Consciousness was a holiday', DAILY, '2023-11-17T12:00:00', ['2023-11-20', '2023-11-21']],
    ['each day, over Christmas and New Year', DAILY, '2026-12-24T12:00:00', ['2026-12-28', '2026-12-29']],
    ['each day, over the turn of the year', DAILY, '2026-12-31T12:00:00', ['2027-01-04', '2027-01-05']],
    ['Mondays', weekly(1), '2026-11-23T12:00:00', ['2026-11-30', '2026-12-07', '2026-12-14']],
    ['Mondays, Carnival on one', weekly(1), '2026-02-09T12:00:00', ['2026-02-18', '2026-02-23', '2026-03-02']],
    ['Tuesdays, Carnival on one', weekly(2), '2026-02-10T12:00:00', ['2026-02-18', '2026-02-24']],
    ['Fridays, a holiday on one', weekly(5), '2026-11-13T12:00:00', ['2026-11-23', '2026-11-27', '2026-12-04']],
    ['Fridays, between a holiday and its Monday', weekly(5), '2026-11-21T12:00:00', ['2026-11-23', '2026-11-27']],
    ['Fridays, Christmas and New Year', weekly(5), '2026-12-18T12:00:00', ['2026-12-28', '2027-01-04', '2027-01-08']],
    ['the first', monthly(1), '2026-10-15T12:00:00', ['2026-11-03', '2026-12-01', '2027-01-04', '2027-02-01']],
    ['the 15th', monthly(15), '2026-11-13T12:00:00', ['2026-11-16', '2026-12-15', '2027-01-15']],
    ['the 20th, a holiday', monthly(20), '2026-11-19T12:00:00', ['2026-11-23', '2026-12-21']],
    ['the 31st', monthly(31), '2026-03-31T12:00:00', ['2026-04-30', '2026-06-01', '2026-06-30', '2026-07-31']],
    ['the 31st, last day on a weekend', monthly(31), '2026-05-31T12:00:00', ['2026-06-01', '2026-06-30']],
    ['the 30th in February', monthly(30), '2026-01-30T12:00:00', ['2026-03-02', '2026-03-30', '2026-04-30']],
    ['the 29th in a leap year', monthly(29), '2028-01-31T12:00:00', ['2028-03-01', '2028-03-29']],
    ['the 29th in a year without', monthly(29), '2027-01-29T12:00:00', ['2027-03-01', '2027-03-29']],
    ['the 29th of February 2024, a Thursday', monthly(29), '2024-01-31T12:00:00', ['2024-02-29', '2024-04-01']],
    ['the 28th of February 2025, a Friday', monthly(31), '2025-01-31T12:00:00', ['2025-02-28', '2025-03-31']],
  ])('%s', (_what, timing, after, expected) => {
    expect(following(timing, at(after), expected.length)).toEqual(days(...expected));
  });

  it.each([
    // Summer time began at midnight of Sunday, 2018-11-04, two days after a holiday on a Friday.
    [{ ...DAILY, at: '00:00' }, '2018-11-01T12:00:00-03:00', ['2018-11-05T02:00:00.000Z', '2018-11-06T02:00:00.000Z']],
    [{ ...monthly(4), at: '00:00' }, '2018-10-31T12:00:00-03:00', ['2018-11-05T02:00:00.000Z']],
    // 1966-11-01 was a Tuesday without the hour from 00:00 to 01:00.
    [{ ...DAILY, at: '00:30' }, '1966-10-31T00:30:00-03:00', ['1966-11-01T03:30:00.000Z', '1966-11-03T02:30:00.000Z']],
    [{ ...DAILY, at: '00:00' }, '1966-10-31T00:00:00-03:00', ['1966-11-01T03:00:00.000Z', '1966-11-03T02:00:00.000Z']],
    // The last summer time ended at midnight of 2019-02-17: 23:00 of Saturday came twice.
    [{ ...DAILY, at: '23:30' }, '2019-02-15T12:00:00-02:00', ['2019-02-16T01:30:00.000Z', '2019-02-19T02:30:00.000Z']],
  ])('%j after %s follow the clocks of São Paulo', (timing, after, expected) => {
    expect(following(timing, new Date(after), expected.length)).toEqual(expected);
  });

  const between = (timing: Timing, after: string, now: string): Occurrences =>
    occurrencesOf(timing, at(after), at(now));

  it.each([
    ['before its time', '2026-11-25T10:00:00', '2026-11-26T09:59:59.999', null, '2026-11-26'],
    ['at its time', '2026-11-25T10:00:00', '2026-11-26T10:00:00', '2026-11-26', '2026-11-27'],
    ['when it is over', '2026-11-26T10:00:00', '2026-11-26T10:00:00.001', null, '2026-11-27'],
    ['only once for three missed days', '2026-11-23T10:00:00', '2026-11-26T23:00:00', '2026-11-26', '2026-11-27'],
    ['on the Friday after a weekend', '2026-11-26T10:00:00', '2026-11-29T12:00:00', '2026-11-27', '2026-11-30'],
    ['only once after years', '2020-01-02T10:00:00', '2026-11-26T12:00:00', '2026-11-26', '2026-11-27'],
    ['never when the clock was set back', '2026-11-26T10:00:00', '2026-11-24T12:00:00', null, '2026-11-27'],
  ])('are due %s', (_when, after, now, due, next) => {
    expect(between(DAILY, after, now)).toEqual({ due: due === null ? null : at(due), next: at(next) });
  });

  it('of a month are found after a long pause too', () => {
    expect(between(monthly(31), '2024-01-31T10:00:00', '2026-03-30T12:00:00')).toEqual({
      due: at('2026-03-02'),
      next: at('2026-03-31'),
    });
  });
});
