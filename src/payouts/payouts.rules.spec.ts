import { describe, expect, it } from '@jest/globals';
import { exceededLimit, periodsOf, type PayoutRules, startOf, tightestLimit } from './payouts.rules.js';

const NO_RULES: PayoutRules = {
  to: 'anyone',
  approvalAbove: null,
  newDestinationHours: 0,
  max: null,
  dailyMax: null,
  nightMax: null,
};
const LIMITED: PayoutRules = { ...NO_RULES, max: 5_000, dailyMax: 9_000, nightMax: 1_000 };

describe('the night of São Paulo', () => {
  it.each([
    ['2026-11-26T19:59:59.999-03:00', '2026-11-26T00:00:00-03:00', null, '2026-11-27T06:00:00-03:00'],
    [
      '2026-11-26T20:00:00.000-03:00',
      '2026-11-26T00:00:00-03:00',
      '2026-11-26T20:00:00-03:00',
      '2026-11-27T06:00:00-03:00',
    ],
    [
      '2026-11-26T23:59:59.999-03:00',
      '2026-11-26T00:00:00-03:00',
      '2026-11-26T20:00:00-03:00',
      '2026-11-27T06:00:00-03:00',
    ],
    [
      '2026-11-27T00:00:00.000-03:00',
      '2026-11-27T00:00:00-03:00',
      '2026-11-26T20:00:00-03:00',
      '2026-11-27T06:00:00-03:00',
    ],
    [
      '2026-11-27T05:59:59.999-03:00',
      '2026-11-27T00:00:00-03:00',
      '2026-11-26T20:00:00-03:00',
      '2026-11-27T06:00:00-03:00',
    ],
    ['2026-11-27T06:00:00.000-03:00', '2026-11-27T00:00:00-03:00', null, '2026-11-28T06:00:00-03:00'],
    // Over the turn of a month and of a year.
    [
      '2026-12-01T01:00:00.000-03:00',
      '2026-12-01T00:00:00-03:00',
      '2026-11-30T20:00:00-03:00',
      '2026-12-01T06:00:00-03:00',
    ],
    [
      '2026-12-31T21:00:00.000-03:00',
      '2026-12-31T00:00:00-03:00',
      '2026-12-31T20:00:00-03:00',
      '2027-01-01T06:00:00-03:00',
    ],
    // Summer time began at midnight: that day had no 00:00, and the night had nine hours.
    [
      '2018-11-03T23:00:00.000-03:00',
      '2018-11-03T00:00:00-03:00',
      '2018-11-03T20:00:00-03:00',
      '2018-11-04T06:00:00-02:00',
    ],
    [
      '2018-11-04T01:00:00.000-02:00',
      '2018-11-04T01:00:00-02:00',
      '2018-11-03T20:00:00-03:00',
      '2018-11-04T06:00:00-02:00',
    ],
    [
      '2018-11-04T05:59:59.999-02:00',
      '2018-11-04T01:00:00-02:00',
      '2018-11-03T20:00:00-03:00',
      '2018-11-04T06:00:00-02:00',
    ],
    ['2018-11-04T06:00:00.000-02:00', '2018-11-04T01:00:00-02:00', null, '2018-11-05T06:00:00-02:00'],
  ])('at %s is of the day from %s, in a night from %s, and before the morning of %s', (at, day, night, morning) => {
    const expected = {
      ...{ day: new Date(day), morning: new Date(morning) },
      night: night === null ? null : new Date(night),
    };
    expect(periodsOf(new Date(at))).toEqual(expected);
  });

  it.each([
    ['19:59:59.999', 1_001, null],
    ['20:00:00.000', 1_001, 'payout_night_max'],
    ['20:00:00.000', 1_000, null],
    ['05:59:59.999', 1_001, 'payout_night_max'],
    ['06:00:00.000', 1_001, null],
  ])('turns at its hours: at %s %d cents exceed %s', (time, amount, limit) => {
    const { night } = periodsOf(new Date(`2026-11-26T${time}-03:00`));
    expect(exceededLimit(amount, LIMITED, { day: 0, night: 0 }, night !== null)?.name ?? null).toBe(limit);
  });
});

describe('limits of payouts', () => {
  it.each([
    ['no limit', 999_999_999_999, NO_RULES, { day: 999_999_999_999, night: 0 }, true, null],
    ['the largest payout', 5_000, LIMITED, { day: 0, night: 0 }, false, null],
    ['the largest payout and a cent', 5_001, LIMITED, { day: 0, night: 0 }, false, { name: 'payout_max', left: 5_000 }],
    ['the rest of the day', 3_000, LIMITED, { day: 6_000, night: 0 }, false, null],
    [
      'the rest of the day and a cent',
      3_001,
      LIMITED,
      { day: 6_000, night: 0 },
      false,
      { name: 'payout_daily_max', left: 3_000 },
    ],
    ['a day that is used up', 1, LIMITED, { day: 9_500, night: 0 }, false, { name: 'payout_daily_max', left: 0 }],
    ['the rest of the night', 400, LIMITED, { day: 600, night: 600 }, true, null],
    [
      'the rest of the night and a cent',
      401,
      LIMITED,
      { day: 600, night: 600 },
      true,
      { name: 'payout_night_max', left: 400 },
    ],
    ['a night limit by day', 401, LIMITED, { day: 600, night: 600 }, false, null],
    ['a limit of nothing', 1, { ...NO_RULES, max: 0 }, { day: 0, night: 0 }, false, { name: 'payout_max', left: 0 }],
  ] as const)('are compared with %s: %d cents', (_what, amount, rules, sent, isNight, expected) => {
    expect(exceededLimit(amount, rules, sent, isNight)).toEqual(expected);
  });

  it.each([
    ['none', NO_RULES, { day: 1_000, night: 1_000 }, true, null],
    ['the one per payout', LIMITED, { day: 0, night: 0 }, false, { name: 'payout_max', left: 5_000 }],
    ['the one per day', LIMITED, { day: 8_000, night: 0 }, false, { name: 'payout_daily_max', left: 1_000 }],
    ['the one at night', LIMITED, { day: 700, night: 700 }, true, { name: 'payout_night_max', left: 300 }],
    ['the day at night', LIMITED, { day: 8_900, night: 700 }, true, { name: 'payout_daily_max', left: 100 }],
  ] as const)('leave the least by %s', (_what, rules, sent, isNight, expected) => {
    expect(tightestLimit(rules, sent, isNight)).toEqual(expected);
  });
});

describe('the beginning of a payout', () => {
  const NOW = new Date('2026-11-26T12:00:00Z');
  const LATER = new Date('2026-11-27T12:00:00Z');
  const STRICT: PayoutRules = { ...NO_RULES, approvalAbove: 1_000, newDestinationHours: 24 };

  it.each([
    ['to a new receiver', 1_000, false, false, { needsApproval: false, sendAfter: LATER, isNew: true }],
    ['to one that was paid', 1_000, true, false, { needsApproval: false, sendAfter: NOW, isNew: false }],
    ['to one that an OWNER approved', 1_000, false, true, { needsApproval: false, sendAfter: NOW, isNew: false }],
    ['above the amount', 1_001, true, false, { needsApproval: true, sendAfter: NOW, isNew: false }],
    [
      'above the amount, to a new receiver',
      1_001,
      false,
      false,
      { needsApproval: true, sendAfter: LATER, isNew: true },
    ],
  ])('%s', (_what, amount, wasPaid, isApproved, expected) => {
    expect(startOf(amount, STRICT, { wasPaid, isApproved }, NOW)).toEqual(expected);
  });

  it('needs no second person in an account without such a rule', () => {
    expect(startOf(999_999_999_999, NO_RULES, { wasPaid: true, isApproved: false }, NOW).needsApproval).toBe(false);
  });

  it('needs a second person for every amount above nothing', () => {
    const rules = { ...NO_RULES, approvalAbove: 0 };
    expect(startOf(1, rules, { wasPaid: true, isApproved: false }, NOW).needsApproval).toBe(true);
  });
});
