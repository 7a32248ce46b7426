import { describe, expect, it } from '@jest/globals';
import { formatBrl } from './checkout.format.js';

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
