import { describe, expect, it } from '@jest/globals';
import { validateSync } from 'class-validator';
import { firstInstantOf, IsDayOrInstant, lastInstantOf } from './dates.js';

class Query {
  @IsDayOrInstant()
  date!: unknown;
}

function isTaken(date: unknown): boolean {
  return validateSync(Object.assign(new Query(), { date })).length === 0;
}

const span = (date: string): [string, string] => [
  firstInstantOf(date).toISOString(),
  lastInstantOf(date).toISOString(),
];

describe('a date of a request', () => {
  it.each([
    // A day is the whole of it in São Paulo.
    ['2026-03-10', '2026-03-10T03:00:00.000Z', '2026-03-11T02:59:59.999Z'],
    ['2028-02-29', '2028-02-29T03:00:00.000Z', '2028-03-01T02:59:59.999Z'],
    // Summer time, abolished in 2019, began at midnight: that day began at 01:00 and had 23 hours.
    ['2018-11-04', '2018-11-04T03:00:00.000Z', '2018-11-05T01:59:59.999Z'],
    ['2018-11-03', '2018-11-03T03:00:00.000Z', '2018-11-04T02:59:59.999Z'],
    // Summer time ended at midnight: the day before had 25 hours.
    ['2019-02-16', '2019-02-16T02:00:00.000Z', '2019-02-17T02:59:59.999Z'],
    ['2019-02-17', '2019-02-17T03:00:00.000Z', '2019-02-18T02:59:59.999Z'],
    ['9999-12-31', '9999-12-31T03:00:00.000Z', '+010000-01-01T02:59:59.999Z'],
    // An instant is itself.
    ['2026-03-10T12:00:00Z', '2026-03-10T12:00:00.000Z', '2026-03-10T12:00:00.000Z'],
    ['2026-03-10T12:00Z', '2026-03-10T12:00:00.000Z', '2026-03-10T12:00:00.000Z'],
    ['2026-03-10T12:00:00.5-03:00', '2026-03-10T15:00:00.500Z', '2026-03-10T15:00:00.500Z'],
    ['2026-03-10T00:00:00+14:00', '2026-03-09T10:00:00.000Z', '2026-03-09T10:00:00.000Z'],
    ['2026-03-10T00:00:00-14:00', '2026-03-10T14:00:00.000Z', '2026-03-10T14:00:00.000Z'],
    ['2026-03-10T12:00:00.123000000Z', '2026-03-10T12:00:00.123Z', '2026-03-10T12:00:00.123Z'],
    // Between two milliseconds: the one after it and the one before it.
    ['2026-03-10T12:00:00.123000001Z', '2026-03-10T12:00:00.124Z', '2026-03-10T12:00:00.123Z'],
  ])('%s spans from %s to %s', (date, first, last) => {
    expect(isTaken(date)).toBe(true);
    expect(span(date)).toEqual([first, last]);
  });

  it.each(['0001-01-01', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59.999-14:00'])('may be %s', (date) => {
    expect(isTaken(date)).toBe(true);
  });

  it.each([
    // Days that no calendar has.
    ...['2026-02-30', '2026-02-29', '2100-02-29', '2026-04-31', '2026-00-10', '2026-13-01', '2026-01-00', '2026-01-32'],
    ...['2026-02-30T10:00:00Z', '2026-02-29T23:00:00-03:00'],
    ...['0000-12-31', '0000-01-01T00:00:00Z', '10000-01-01', '+002026-01-01', '-2026-01-01'],
    // Times that no clock has, or not everybody's.
    ...[
      '2026-01-01T24:00:00Z',
      '2026-01-01T23:59:60Z',
      '2016-12-31T23:59:60Z',
      '2026-01-01T10:60:00Z',
      '2026-01-01T1:00:00Z',
    ],
    ...[
      '2026-01-01T10:00:00+14:01',
      '2026-01-01T10:00:00-15:00',
      '2026-01-01T10:00:00+02:60',
      '2026-01-01T10:00:00+24:00',
    ],
    // Times without a zone.
    ...[
      '2026-01-01T10:00:00',
      '2026-01-01T10:00',
      '2026-01-01T10:00:00 03:00',
      '2026-01-01T10:00:00[America/Sao_Paulo]',
    ],
    // Other forms.
    ...[
      '2026-W01-1',
      '2026-001',
      '20260101',
      '20260101T000000Z',
      '2026-01',
      '2026',
      '2026-1-1',
      '01/02/2026',
      '1767225600',
    ],
    ...['2026-01-01Z', '2026-01-01T10Z', '2026-01-01 10:00:00Z', '2026-01-01t10:00:00z', ' 2026-01-01', '2026-01-01\n'],
    ...['', 'today', 'yesterday', 'Thu, 01 Jan 2026 00:00:00 GMT', '２０２６-01-01'],
    ...[20260101, new Date(), ['2026-01-01'], {}, true],
  ])('may not be %j', (date) => {
    expect(isTaken(date)).toBe(false);
  });

  it('is refused with a message that says how to write a date', () => {
    const [error] = validateSync(Object.assign(new Query(), { date: '2026-02-30' }));
    expect(Object.values(error?.constraints ?? {})).toEqual([
      'must be a date-time of the calendar with its zone, as in 2026-11-21T15:30:00Z or 2026-11-21T12:30:00-03:00, or a day, as in 2026-11-21',
    ]);
  });
});
