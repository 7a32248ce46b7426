import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type FeeSchedule, providerFee } from './fees.js';

const NOON = new Date('2026-11-24T15:00:00Z');

function schedule(fields: Partial<FeeSchedule> = {}): FeeSchedule {
  return { operation: 'PIX', validFrom: '2026-11-01', bps: 0, fixed: 0, minimum: 0, maximum: null, ...fields };
}

describe('the fee of a PSP', () => {
  it.each<[string, Partial<FeeSchedule>, amount: number, fee: number]>([
    ['is nothing without a rate', {}, 1_000, 0],
    ['is a part of the amount', { bps: 99 }, 10_000, 99],
    ['rounds half a cent up', { bps: 50 }, 100, 1],
    ['rounds less than half a cent down', { bps: 49 }, 100, 0],
    ['is rounded once, before what is fixed', { bps: 150, fixed: 10 }, 1_990, 40],
    ['is fixed', { fixed: 35 }, 1, 35],
    ['is the least', { bps: 99, minimum: 50 }, 1_000, 50],
    ['is more than the least', { bps: 99, minimum: 50 }, 10_000, 99],
    ['is the least also of what is fixed', { fixed: 10, minimum: 50 }, 1_000, 50],
    ['is the most', { bps: 99, fixed: 100, maximum: 500 }, 1_000_000, 500],
    ['is less than the most', { bps: 99, maximum: 500 }, 10_000, 99],
    ['is exact for the largest amount', { bps: 9_999 }, 999_999_999_999, 999_899_999_999],
  ])('%s: with %j a payment of %i cents costs %i cents', (_, fields, amount, fee) => {
    expect(providerFee([schedule(fields)], 'PIX', amount, NOON)).toBe(fee);
  });

  it('is zero for another operation, and before the first schedule begins', () => {
    const schedules = [
      schedule({ fixed: 5 }),
      schedule({ operation: 'devolution', validFrom: '2026-11-25', fixed: 7 }),
    ];
    expect(providerFee(schedules, 'devolution', 100, NOON)).toBe(0);
    expect(providerFee(schedules, 'devolution', 100, new Date('2026-11-25T15:00:00Z'))).toBe(7);
    expect(providerFee(schedules, 'PIX', 100, new Date('2026-10-31T15:00:00Z'))).toBe(0);
  });

  it('changes at midnight in São Paulo', () => {
    const schedules = [schedule({ fixed: 5 }), schedule({ fixed: 8, validFrom: '2026-11-25' })];
    expect(providerFee(schedules, 'PIX', 100, new Date('2026-11-25T02:59:59.999Z'))).toBe(5);
    expect(providerFee(schedules, 'PIX', 100, new Date('2026-11-25T03:00:00.000Z'))).toBe(8);
  });

  it('follows the later of two schedules of one day', () => {
    const schedules = [schedule({ fixed: 9_900 }), schedule({ fixed: 99 })];
    expect(providerFee(schedules, 'PIX', 100, NOON)).toBe(99);
  });

  it('is a whole number between minimum and maximum, and never less for a larger amount', () => {
    const cents = fc.integer({ min: 0, max: 1_000_000 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000 }), cents, cents, cents, cents, cents, (...numbers) => {
        const [bps, fixed, minimum, above, amount, more] = numbers;
        const schedules = [schedule({ bps, fixed, minimum, maximum: minimum + above })];
        const fee = providerFee(schedules, 'PIX', amount, NOON);
        expect(Number.isSafeInteger(fee)).toBe(true);
        expect(fee).toBeGreaterThanOrEqual(minimum);
        expect(fee).toBeLessThanOrEqual(minimum + above);
        expect(providerFee(schedules, 'PIX', amount + more, NOON)).toBeGreaterThanOrEqual(fee);
      }),
    );
  });
});
