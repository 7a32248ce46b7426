import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { basisPoints, decimalText, digitsOf, feesOf, MAX_AMOUNT, moneyText } from './money.js';
import { scaled } from '../../../test/support/scale.js';

const amount = fc.oneof(
  fc.integer({ min: 1, max: MAX_AMOUNT }),
  fc.constantFrom(1, 2, 3, 49, 50, 51, MAX_AMOUNT - 1, MAX_AMOUNT),
);
const bps = fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.constantFrom(0, 1, 5000, 9999, 10_000));

/** Half up by definition: the whole part, and one more when the rest is at least a half. */
function halfUp(value: number, points: number): bigint {
  const product = BigInt(value) * BigInt(points);
  const rest = product % 10_000n;
  return product / 10_000n + (rest >= 5_000n ? 1n : 0n);
}

describe('basis points', () => {
  it('are rounded half up, exactly, up to the largest amount', () => {
    fc.assert(
      fc.property(amount, bps, (value, points) => {
        expect(BigInt(basisPoints(value, points))).toBe(halfUp(value, points));
      }),
      { numRuns: scaled(2_000, 300) },
    );
  });

  it.each([
    [100, 50, 1], // 0.5
    [99, 50, 0], // 0.495
    [300, 50, 2], // 1.5: away from the even neighbour too
    [1, 5000, 1],
    [1, 4999, 0],
    [10_000, 150, 150],
    [MAX_AMOUNT, 10_000, MAX_AMOUNT],
    // 999 999 999 999 × 9999 is beyond 2^53: in floating point this would be one cent off or worse.
    [MAX_AMOUNT, 9_999, 999_899_999_999],
    [MAX_AMOUNT, 0, 0],
  ])('%d cents at %d basis points are %d cents', (value, points, expected) => {
    expect(basisPoints(value, points)).toBe(expected);
  });
});

describe('fees', () => {
  const fixed = fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 0, max: MAX_AMOUNT }));

  it('add up to the amount together with the net amount, and none is negative', () => {
    fc.assert(
      fc.property(amount, bps, fixed, fixed, (value, points, fixedFee, provider) => {
        const { providerFee, platformFee, netAmount } = feesOf(value, { bps: points, fixed: fixedFee }, provider);
        expect(providerFee + platformFee + netAmount).toBe(value);
        expect(Math.min(providerFee, platformFee, netAmount)).toBeGreaterThanOrEqual(0);
        expect([providerFee, platformFee, netAmount].every(Number.isSafeInteger)).toBe(true);
        // Each fee is the agreed one, unless the amount does not cover it.
        expect(providerFee).toBe(Math.min(provider, value));
        const agreed = halfUp(value, points) + BigInt(fixedFee);
        expect(netAmount > 0 ? BigInt(platformFee) === agreed : BigInt(platformFee) <= agreed).toBe(true);
      }),
      { numRuns: scaled(2_000, 300) },
    );
  });

  it.each([
    [10_000, { bps: 150, fixed: 10 }, 0, { providerFee: 0, platformFee: 160, netAmount: 9_840 }],
    [10_000, { bps: 150, fixed: 10 }, 25, { providerFee: 25, platformFee: 160, netAmount: 9_815 }],
    [1, { bps: 150, fixed: 10 }, 0, { providerFee: 0, platformFee: 1, netAmount: 0 }],
    [5, { bps: 10_000, fixed: 10 }, 3, { providerFee: 3, platformFee: 2, netAmount: 0 }],
    [5, { bps: 0, fixed: 0 }, 9, { providerFee: 5, platformFee: 0, netAmount: 0 }],
    [5, { bps: 0, fixed: 0 }, 0, { providerFee: 0, platformFee: 0, netAmount: 5 }],
  ])('are split for %d with %o and an acquirer fee of %d', (value, platform, provider, expected) => {
    expect(feesOf(value, platform, provider)).toEqual(expected);
  });
});

it.each([
  [1, 'BRL', 'R$ 0,01'],
  [123_456, 'BRL', 'R$ 1.234,56'],
  [999_999_999_999, 'BRL', 'R$ 9.999.999.999,99'],
  [100_000_000, 'EUR', 'EUR 1.000.000,00'],
  [123_456_789, 'BTC', 'BTC 1,23456789'],
  [-123_456, 'BRL', 'R$ -1.234,56'],
])('%d of %s is written %s', (amount, currency, text) => {
  expect(moneyText(amount, currency)).toBe(text);
});

it.each([
  [0, 'BRL', '0.00'],
  [5, 'BRL', '0.05'],
  [1_990, 'BRL', '19.90'],
  [-5, 'BRL', '-0.05'],
  [-123_456, 'EUR', '-1234.56'],
  [1, 'BTC', '0.00000001'],
  [123_456_789, 'BTC', '1.23456789'],
])('%d of %s is exactly %s', (amount, currency, text) => {
  expect(decimalText(amount, currency)).toBe(text);
  expect(text.length - text.indexOf('.') - 1).toBe(digitsOf(currency));
});
