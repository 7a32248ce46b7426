import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_MULTIBANCO_AMOUNT, multibancoReference } from './multibanco.js';

/** The weights that payment institutions publish, from the right: an independent way to compute the digits. */
const WEIGHTS = [3, 30, 9, 90, 27, 76, 81, 34, 49, 5, 50, 15, 53, 45, 62, 38, 89, 17, 73, 51];

function checkDigits(entity: string, id: string, amount: number): string {
  const text = `${entity}${id}${String(amount).padStart(8, '0')}`;
  const sum = WEIGHTS.reduce((total, weight, index) => total + weight * Number(text[19 - index]), 0);
  return String(98 - (sum % 97)).padStart(2, '0');
}

describe('a Multibanco reference', () => {
  it('matches the published example: entity 11604, 25,86 €', () => {
    expect(multibancoReference('11604', '9991234', 2586)).toBe('999123490');
  });

  it('has the check digits that the published weights give', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 99_999 }),
        fc.integer({ min: 0, max: 9_999_999 }),
        fc.integer({ min: 1, max: MAX_MULTIBANCO_AMOUNT }),
        (entityNumber, idNumber, amount) => {
          const entity = String(entityNumber).padStart(5, '0');
          const id = String(idNumber).padStart(7, '0');
          expect(multibancoReference(entity, id, amount)).toBe(`${id}${checkDigits(entity, id, amount)}`);
        },
      ),
    );
  });

  it.each([
    ['1160', '9991234', 1],
    ['11604', '999123', 1],
    ['11604', '9991234', 0],
    ['11604', '9991234', MAX_MULTIBANCO_AMOUNT + 1],
    ['11604', '9991234', 1.5],
  ])('is refused for parts that do not fit: %s %s %d', (entity, id, amount) => {
    expect(() => multibancoReference(entity, id, amount)).toThrow(RangeError);
  });
});
