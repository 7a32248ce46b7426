import { describe, expect, it } from '@jest/globals';
import { formatBrl, formatWhen } from './checkout.format.js';

describe('formatBrl', () => {
  it.each([
    [1, 'R$ 0,01'],
    [100, 'R$ 1,00'],
    [123456, 'R$ 1.234,56'],
    [999_999_999_999, 'R$ 9.999.999.999,99'],
  ])('writes %i cents as %s', (amount, text) => {
    expect(formatBrl(amount)).toBe(text);
  });
});

describe('formatWhen', () => {
  it("uses São Paulo's day and hour, with midnight as 00:00", () => {
    expect(formatWhen(new Date('2026-03-10T02:59:59Z'))).toBe('9 de março de 2026 às\u00a023:59');
    expect(formatWhen(new Date('2026-03-10T03:00:00Z'))).toBe('10 de março de 2026 às\u00a000:00');
  });
});
