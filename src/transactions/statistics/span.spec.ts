import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { piecesOf, spanOf, whole } from './span.js';

const at = (text: string): Date => new Date(text);
const pieces = (from: string, to: string): string[] | null => {
  const span = spanOf(at(from), at(to));
  return span && piecesOf(span).map((piece) => `${piece.grain} ${piece.from.toISOString().slice(5, 23)}`);
};

describe('a span of time', () => {
  it.each([
    [
      'months, and everything finer at both ends',
      ['2026-08-20T10:15:00.000Z', '2026-11-23T10:15:00.000Z'],
      [
        'rest 08-20T10:15:00.000',
        'hour 08-20T11:00:00.000',
        'day 08-21T03:00:00.000',
        'month 09-01T03:00:00.000',
        'day 11-01T03:00:00.000',
        'hour 11-23T03:00:00.000',
        'rest 11-23T10:00:00.000',
      ],
    ],
    [
      'some days, from a whole hour',
      ['2026-11-20T10:00:00.000Z', '2026-11-23T10:15:00.000Z'],
      ['hour 11-20T10:00:00.000', 'day 11-21T03:00:00.000', 'hour 11-23T03:00:00.000', 'rest 11-23T10:00:00.000'],
    ],
    [
      'hours within a day',
      ['2026-11-20T10:15:00.000Z', '2026-11-20T14:00:00.000Z'],
      ['rest 11-20T10:15:00.000', 'hour 11-20T11:00:00.000', 'rest 11-20T14:00:00.000'],
    ],
    ['a part of an hour', ['2026-11-20T10:15:00.000Z', '2026-11-20T10:20:00.000Z'], ['rest 11-20T10:15:00.000']],
    ['one moment', ['2026-11-20T10:15:00.000Z', '2026-11-20T10:15:00.000Z'], ['rest 11-20T10:15:00.000']],
    ['exactly a day', ['2026-11-20T03:00:00.000Z', '2026-11-21T02:59:59.999Z'], ['day 11-20T03:00:00.000']],
    ['exactly a month', ['2026-11-01T03:00:00.000Z', '2026-12-01T02:59:59.999Z'], ['month 11-01T03:00:00.000']],
    ['nothing', ['2026-11-20T10:15:00.000Z', '2026-11-20T10:14:59.999Z'], null],
  ] as [string, [string, string], string[] | null][])(
    'is cut into the coarsest pieces: %s',
    (_what, [from, to], expected) => {
      expect(pieces(from, to)).toEqual(expected);
    },
  );

  it('is cut in order and without gaps, with few rows counted one by one', () => {
    const dates = fc.date({ min: at('2000-01-01T00:00:00Z'), max: at('2060-01-01T00:00:00Z'), noInvalidDate: true });
    fc.assert(
      fc.property(fc.option(dates), fc.option(dates), (from, to) => {
        const span = spanOf(from, to);
        if (!span) return expect((from?.getTime() ?? 0) > (to?.getTime() ?? Infinity)).toBe(true);
        if (from) expect(span.from).toEqual(from);
        if (to) expect(span.to.getTime()).toBe(to.getTime() + 1);
        const cut = piecesOf(span);
        expect([span.from, ...cut.map((piece) => piece.to)]).toEqual([...cut.map((piece) => piece.from), span.to]);
        expect(cut.length).toBeLessThanOrEqual(7);
        const hours = (grain: string): number[] =>
          cut
            .filter((piece) => piece.grain === grain)
            .map((piece) => (piece.to.getTime() - piece.from.getTime()) / 3_600_000);
        for (const [grain, most] of [
          ['rest', 2],
          ['hour', 48],
          ['day', 31 * 48],
        ] as const) {
          expect(hours(grain).reduce((sum, own) => sum + own, 0)).toBeLessThanOrEqual(most);
          expect(Math.min(...hours(grain), 1)).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('has 23, 24 or 25 hours for a day, and all days for a month', () => {
    const hours = (grain: 'hour' | 'day' | 'month', from: string): number => {
      const span = whole(grain, at(from));
      return (span.to.getTime() - span.from.getTime()) / 3_600_000;
    };
    expect(hours('hour', '2026-11-20T03:00:00.000Z')).toBe(1);
    expect(hours('day', '2026-11-20T03:00:00.000Z')).toBe(24);
    expect(hours('day', '2018-11-04T03:00:00.000Z')).toBe(23);
    expect(hours('day', '2018-02-17T02:00:00.000Z')).toBe(25);
    expect(hours('month', '2026-02-01T03:00:00.000Z')).toBe(28 * 24);
  });
});
