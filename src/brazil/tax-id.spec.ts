import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { maskTaxId, normalizeTaxId, taxIdKind } from './index.js';

// Receita Federal / SERPRO check-digit material: base and its two digits.
const CNPJ_CHECK_DIGITS: ReadonlyArray<readonly [base: string, digits: string]> = [
  ['900251080001', '21'],
  ['R55231B30007', '57'],
  ['900213820001', '22'],
  ['900252550001', '00'],
];

// Receita Federal material and its CNPJ simulator, public entities, open-source suites.
const CNPJS: ReadonlyArray<readonly [text: string, valid: boolean, note: string]> = [
  ['R55231B3000700', false, 'wrong DV'],
  ['1234567ABCDE88', true, ''],
  ['00038166000105', true, 'public entity'],
  ['12345678000195', true, ''],
  ['6TS1HJ0S000170', true, ''],
  ['12ABC34501DE35', true, ''],
  ['33000167000101', true, 'public entity'],
  ['58900633120711', false, 'BACEN pix-api openapi example: WRONG DV'],
  ['12ABC34501DE355', false, '15 chars'],
  ['0R.AT1.HV8/0001-59', true, ''],
  ['00000000000191', true, 'public entity'],
  ['90.024.420/0001A2', false, 'DV must be numeric'],
  ['44038188000132', true, ''],
  ['11222333000262', true, ''],
  ['1345C3A5000106', true, ''],
  ['11222333000181', true, ''],
  ['90.024.778/000123', true, 'partly masked'],
  ['12ABC34501DE3', false, '13 chars'],
  ['12ÁBC4501DE035', false, 'non-ASCII letter'],
  ['56989000019533', false, 'BACEN pix-api openapi example: WRONG DV'],
  ['00A000B000C084', true, ''],
  ['DA.HWQ.8TY/P4PL-23', true, ''],
  ['S8.T45.HLW/0001-95', true, ''],
  ['ABCDEFGHIJKL80', true, ''],
  ['12ABC345000188', true, ''],
  ['32.AYM.RED/0001-08', true, ''],
  ['PY.JKX.ABJ/0001-78', true, ''],
];

const CPFS: ReadonlyArray<readonly [text: string, valid: boolean, note: string]> = [
  ['00000000000', false, 'repeated: passes the arithmetic, must be rejected'],
  ['44444444444', false, 'repeated: passes the arithmetic, must be rejected'],
  ['1234567890A', false, 'letter'],
  ['39053344705', true, 'open-source tests'],
  ['88888888888', false, 'repeated: passes the arithmetic, must be rejected'],
  ['12345678909', true, 'classic example'],
  ['12345678900', false, 'wrong DV'],
  ['99999999999', false, 'repeated: passes the arithmetic, must be rejected'],
  ['123456789091', false, '12 digits'],
  ['1234567890', false, '10 digits'],
  ['52998224724', false, 'wrong DV'],
  ['11111111111', false, 'repeated: passes the arithmetic, must be rejected'],
];

const bare = (text: string): string => text.replace(/[./-]/g, '');

/** Check digits by the Receita's manual, with explicit weights: shares no code with the implementation. */
function digitsByTable(base: string, kind: 'cpf' | 'cnpj'): string {
  const weights = kind === 'cpf' ? [11, 10, 9, 8, 7, 6, 5, 4, 3, 2] : [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
  let text = base;
  for (const used of [weights.slice(1), weights]) {
    const sum = used.reduce((total, weight, index) => total + weight * (text.charCodeAt(index) - 48), 0);
    text += String(sum % 11 < 2 ? 0 : 11 - (sum % 11));
  }
  return text.slice(-2);
}

const cpfs = fc
  .stringMatching(/^[0-9]{9}$/)
  .filter((base) => !/^(.)\1+$/.test(base))
  .map((base) => base + digitsByTable(base, 'cpf'));
const cnpjs = fc
  .stringMatching(/^[0-9A-Z]{12}$/)
  .filter((base) => base !== '0'.repeat(12))
  .map((base) => base + digitsByTable(base, 'cnpj'));

describe('normalizeTaxId', () => {
  it.each(CNPJ_CHECK_DIGITS)('CNPJ base %s ends in %s and in nothing else', (base, digits) => {
    const accepted = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0')).filter(
      (candidate) => normalizeTaxId(base + candidate) !== null,
    );
    expect(accepted).toEqual([digits]);
  });

  it.each(CNPJS)('CNPJ %s: valid is %s (%s)', (text, valid) => {
    expect(normalizeTaxId(text)).toBe(valid ? bare(text) : null);
  });

  it.each(CPFS)('CPF %s: valid is %s (%s)', (text, valid) => {
    expect(normalizeTaxId(text)).toBe(valid ? text : null);
  });

  it.each(Array.from({ length: 10 }, (_, digit) => String(digit)))('refuses repeated digit %s', (digit) => {
    expect(normalizeTaxId(digit.repeat(11))).toBeNull();
    expect(normalizeTaxId(digit.repeat(14))).toBeNull();
  });

  it.each([
    ['123.456.789-09', '12345678909'],
    [' 123 456 789 09\n', '12345678909'],
    ['12.345.678/0001-95', '12345678000195'],
    ['12.abc.345/01de-35', '12ABC34501DE35'],
  ])('reads %j as %s', (text, expected) => {
    expect(normalizeTaxId(text)).toBe(expected);
  });

  it.each([
    ['', 'nothing'],
    ['   ', 'blanks'],
    ['12345678909x', 'a letter at the end'],
    ['123_456_789_09', 'another separator'],
    ['123.456.789–09', 'a dash that is not a hyphen'],
    ['１２３４５６７８９０９', 'full-width digits'],
    ['\u017f8T45HLW000195', 'a long s, which upper-cases to S'],
    ['S8T45HLW00019\u0665', 'an Arabic digit'],
  ])('refuses %j (%s)', (text) => {
    expect(normalizeTaxId(text)).toBeNull();
  });

  it('accepts tax ids made by the published rule, in any usual writing, and is idempotent', () => {
    fc.assert(
      fc.property(fc.oneof(cpfs, cnpjs), fc.constantFrom('.', '-', '/', ' '), fc.nat(10), (id, separator, at) => {
        const written = id.slice(0, at) + separator + id.slice(at).toLowerCase();
        expect(normalizeTaxId(written)).toBe(id);
      }),
    );
  });

  it('agrees with the table about a tax id with one changed digit', () => {
    const numericCnpjs = fc.stringMatching(/^[0-9]{12}$/).map((base) => base + digitsByTable(base, 'cnpj'));
    fc.assert(
      fc.property(fc.oneof(cpfs, numericCnpjs), fc.nat(13), fc.integer({ min: 1, max: 9 }), (id, position, shift) => {
        const at = position % id.length;
        const changed = id.slice(0, at) + String((Number(id.charAt(at)) + shift) % 10) + id.slice(at + 1);
        fc.pre(!/^(.)\1+$/.test(changed));
        // Some changes stay valid: the remainders 0 and 1 share the check digit 0, so modulo 11 misses them.
        const holds = digitsByTable(changed.slice(0, -2), id.length === 11 ? 'cpf' : 'cnpj') === changed.slice(-2);
        expect(normalizeTaxId(changed) !== null).toBe(holds);
      }),
      { numRuns: 500 },
    );
  });
});

describe('taxIdKind', () => {
  it.each([
    ['12345678909', 'cpf'],
    ['12345678000195', 'cnpj'],
    ['12ABC34501DE35', 'cnpj'],
  ])('%s is a %s', (id, kind) => {
    expect(taxIdKind(id)).toBe(kind);
  });

  it('refuses a text that was not normalized', () => {
    expect(() => taxIdKind('123.456.789-09')).toThrow(TypeError);
  });
});

describe('maskTaxId', () => {
  it.each([
    ['12345678909', '***.456.789-**'],
    ['12345678000195', '12.***.***/0001-**'],
    ['12ABC34501DE35', '12.***.***/01DE-**'],
    ['joao@example.com', '***'],
    ['', '***'],
  ])('%s is shown as %s', (id, masked) => {
    expect(maskTaxId(id)).toBe(masked);
  });

  it('never shows a check digit pair or the whole text', () => {
    fc.assert(
      fc.property(fc.oneof(cpfs, cnpjs), (id) => {
        expect(maskTaxId(id).endsWith('**')).toBe(true);
        expect(maskTaxId(id)).not.toContain(id);
      }),
    );
  });
});
