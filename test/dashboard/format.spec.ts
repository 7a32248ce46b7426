import { describe, expect, it } from '@jest/globals';
import { dateOf, money, parseAmount, timeLeft } from '../../dashboard/src/format.js';

describe('amounts that people type', () => {
  it.each([
    ['129,90', 12_990],
    ['129.90', 12_990],
    ['R$ 1.299,00', 129_900],
    ['1,299.00', 129_900],
    ['1.299', 129_900],
    ['10', 1_000],
    ['9,9', 990],
    ['0,01', 1],
    ['999.999.999.999', 99_999_999_999_900],
  ])('%s is read as %i cents', (text, cents) => expect(parseAmount(text, 'pt-BR')).toBe(cents));

  it.each(['', '0', '0,00', '-1', '1,999,9', '12,345,6', 'abc', '1e3', '1,2,3', '99999999999999999', '１０'])(
    '%p is not read as an amount',
    (text) => expect(parseAmount(text, 'pt-BR')).toBeNull(),
  );

  it.each([
    ['1,999', 'pt-BR'],
    ['1.999', 'en'],
    ['0,009', 'en'],
    ['0.009', 'pt-BR'],
    ['012.000', 'pt-BR'],
  ] as const)('%s is not read as an amount in %s, since it could be a thousand times too much', (text, language) =>
    expect(parseAmount(text, language)).toBeNull(),
  );

  it('thousands are separated as in the language of the person', () =>
    expect(parseAmount('1,999', 'en')).toBe(199_900));

  it('are shown in the language of the person, in any currency', () => {
    expect(money(129_900, 'BRL', 'pt-BR')).toBe('R$\u00a01.299,00');
    expect(money(-990, 'BRL', 'en')).toBe('-R$9.90');
    // As the API and its files count them: hundredths of every currency but bitcoin.
    expect(money(500, 'JPY', 'en')).toBe('¥5.00');
    expect(money(1_990, 'BTC', 'en')).toBe('BTC\u00a00.00001990');
    expect(money(150, 'no currency', 'en')).toBe('1.50 no currency');
  });
});

describe('the time that is left', () => {
  const now = Date.parse('2026-11-23T12:00:00Z');
  it.each([
    ['2026-11-23T12:30:00Z', '30 min'],
    ['2026-11-24T11:00:00Z', '23 h'],
    ['2026-11-30T12:00:00Z', '7 d'],
    ['2026-11-23T11:59:00Z', null],
  ])('until %s is shown as %s', (at, left) => expect(timeLeft(at, now)).toBe(left));
});

it('a day is written in the form of the person’s language', () => {
  expect([dateOf('2026-11-23', 'pt-BR'), dateOf('2026-11-23', 'en')]).toEqual(['23/11/2026', '11/23/26']);
});
