import { describe, expect, it } from '@jest/globals';
import { isValidBoleto } from '@brazilian-utils/brazilian-utils';
import fc from 'fast-check';
import {
  type Boleto,
  boletoBarcode,
  boletoLine,
  dueDateFactor,
  formatBoletoLine,
  isBoletoBarcode,
  MAX_BOLETO_AMOUNT,
} from './boleto.js';

/** The boleto of Banco do Brasil's specification: R$ 1,00, due on 31/12/2007. */
const BARCODE = '00193373700000001000500940144816060680935031';
const LINE = '00190500954014481606906809350314337370000000100';
const noon = (day: string): Date => new Date(`${day}T12:00:00-03:00`);
const example: Boleto = {
  bank: '001',
  amount: 100,
  dueAt: noon('2007-12-31'),
  freeField: '0500940144816060680935031',
};

describe('a boleto', () => {
  it('has the bar code and the line of the published example', () => {
    expect(boletoBarcode(example)).toBe(BARCODE);
    expect(boletoLine(BARCODE)).toBe(LINE);
    expect(formatBoletoLine(LINE)).toBe('00190.50095 40144.816069 06809.350314 3 37370000000100');
  });

  it.each([
    // Factors that banks publish, and the reset of 2025.
    ['2000-07-03', '1000'],
    ['2000-07-05', '1002'],
    ['2002-05-01', '1667'],
    ['2010-11-17', '4789'],
    ['2025-02-21', '9999'],
    ['2025-02-22', '1000'],
    ['2025-02-23', '1001'],
    ['2026-11-24', '1640'],
    ['2049-10-13', '9999'],
    ['2049-10-14', '1000'],
  ])('due on %s has the factor %s', (day, factor) => {
    expect(dueDateFactor(noon(day))).toBe(factor);
  });

  it('is due on a day of São Paulo, from its first millisecond to its last', () => {
    expect(dueDateFactor(new Date('2025-02-22T03:00:00.000Z'))).toBe('1000');
    expect(dueDateFactor(new Date('2025-02-22T02:59:59.999Z'))).toBe('9999');
    expect(dueDateFactor(new Date('2025-02-23T02:59:59.999Z'))).toBe('1000');
    // In the summer time of 2018 this day began at 01:00 by the clocks.
    expect(dueDateFactor(new Date('2018-11-04T03:30:00.000Z'))).toBe('7698');
  });

  const digits = (length: number): fc.Arbitrary<string> =>
    fc.array(fc.nat(9), { minLength: length, maxLength: length }).map((list) => list.join(''));
  const boletos = fc.record({
    bank: digits(3),
    amount: fc.integer({ min: 1, max: MAX_BOLETO_AMOUNT }),
    dueAt: fc.date({ min: noon('2000-07-03'), max: noon('2090-01-01'), noInvalidDate: true }),
    freeField: digits(25),
  });

  it('has a line that another implementation accepts, with bank, amount and factor in their places', () => {
    fc.assert(
      fc.property(boletos, (boleto) => {
        const barcode = boletoBarcode(boleto);
        const line = boletoLine(barcode);
        expect(isBoletoBarcode(barcode)).toBe(true);
        expect([barcode.length, line.length]).toEqual([44, 47]);
        expect(isValidBoleto(line)).toBe(true);
        expect(barcode.slice(0, 4)).toBe(`${boleto.bank}9`);
        expect(barcode.slice(5, 9)).toBe(dueDateFactor(boleto.dueAt));
        expect(Number(barcode.slice(9, 19))).toBe(boleto.amount);
        expect(barcode.slice(19)).toBe(boleto.freeField);
        expect(line.slice(32)).toBe(barcode.slice(4, 19));
      }),
    );
  });

  it('is invalid with a single wrong digit', () => {
    for (let at = 0; at < 44; at++) {
      const wrong = `${BARCODE.slice(0, at)}${(Number(BARCODE[at]) + 1) % 10}${BARCODE.slice(at + 1)}`;
      expect({ at, valid: isBoletoBarcode(wrong) }).toEqual({ at, valid: false });
      expect(() => boletoLine(wrong)).toThrow(RangeError);
    }
  });

  it.each([
    { bank: '01' },
    { bank: 'abc' },
    { amount: 0 },
    { amount: 1.5 },
    { amount: MAX_BOLETO_AMOUNT + 1 },
    { amount: Number.NaN },
    { freeField: '1' },
    { freeField: 'x'.repeat(25) },
    { dueAt: noon('2000-07-02') },
    { dueAt: new Date(Number.NaN) },
  ])('is refused for parts that do not fit: %j', (changes) => {
    expect(() => boletoBarcode({ ...example, ...changes })).toThrow(RangeError);
  });
});
