import { describe, expect, it } from '@jest/globals';
import { growth } from '../../../test/support/growth.js';
import { bodyDifferences, compactJson, isSameJson, readAsUtf8 } from './body-differences.js';

const body = {
  id: 'evt_1',
  data: { object: { amount: 1990, url: 'https://x.example/a', name: 'João €', list: [1, 2] } },
};
const sent = JSON.stringify(body);

describe('differences between a received and the sent body', () => {
  it.each([
    ['the same', sent, []],
    ['indented', JSON.stringify(body, null, 2), ['whitespace']],
    ['with blanks after colons', sent.replaceAll('":', '": '), ['whitespace']],
    ['with blanks at its ends', ` ${sent} `, ['whitespace']],
    ['with a line break after it', `${sent}\n`, ['trailing_newline']],
    ['with CR LF after it', `${sent}\r\n`, ['trailing_newline']],
    ['indented, with a line break after it', `${JSON.stringify(body, null, 2)}\n`, ['trailing_newline', 'whitespace']],
    ['with another order of keys', JSON.stringify({ data: body.data, id: body.id }), ['key_order']],
    [
      'as PHP writes it',
      sent.replaceAll('/', '\\/').replace('ã', '\\u00e3').replace('€', '\\u20ac'),
      ['unicode_escapes', 'slash_escapes'],
    ],
    [
      'as Python writes it',
      sent.replaceAll('":', '": ').replaceAll(',', ', ').replace('ã', '\\u00e3'),
      ['whitespace', 'unicode_escapes'],
    ],
    ['with a decimal', sent.replace('1990', '1990.0'), ['number_format']],
    ['with an exponent', sent.replace('1990', '1.99e3'), ['number_format']],
    ['with a byte order mark', `\ufeff${sent}`, ['byte_order_mark']],
    [
      'with everything at once',
      `\ufeff${JSON.stringify({ data: body.data, id: body.id }, null, 1).replace('1990', '1990.00').replace('€', '\\u20AC')}\n`,
      ['byte_order_mark', 'trailing_newline', 'whitespace', 'key_order', 'unicode_escapes', 'number_format'],
    ],
    ['with a key twice', sent.replace('"id":', '"id":"x","id":'), ['content']],
    ['read as Latin-1', Buffer.from(sent, 'utf8').toString('latin1'), ['charset']],
    ['cut off', sent.slice(0, 40), ['truncated']],
    ['empty', '', ['truncated']],
    ['with another amount', sent.replace('1990', '1991'), ['content']],
    ['with a text for a number', sent.replace('1990', '"1990"'), ['content']],
    ['with its list turned round', sent.replace('[1,2]', '[2,1]'), ['content']],
    ['a form', 'id=evt_1', ['content']],
  ])('are classified when the body is changed: %s', (_what, given, expected) => {
    expect(bodyDifferences(sent, given)).toEqual(expected);
  });

  it('do not include blanks, escapes and digits inside texts', () => {
    const text = JSON.stringify({ note: 'a : b, 1.0 \\u00e3 \\/ "x" \n', 'a b': '1.50' });
    expect(bodyDifferences(text, text)).toEqual([]);
    expect(bodyDifferences(text, `${text}\n`)).toEqual(['trailing_newline']);
  });

  it.each([
    ['line breaks before it', (size: number) => `${'\n'.repeat(size)}${sent}`, ['whitespace']],
    ['line breaks and blanks', (size: number) => sent.replace('":', `":${'\n \r\t'.repeat(size)}`), ['whitespace']],
    ['line breaks after it', (size: number) => `${sent}${'\n'.repeat(size)}`, ['trailing_newline']],
    ['line breaks and one quotation mark', (size: number) => `${'\n'.repeat(size)}${sent}"`, ['content']],
    ['nothing but quotation marks', (size: number) => '"'.repeat(size), ['content']],
    ['digits', (size: number) => '1'.repeat(size), ['content']],
    ['backslashes', (size: number) => `"${'\\'.repeat(size)}`, ['content']],
  ])('take time that grows with the length of the body, not with its square: %s', (_what, given, expected) => {
    expect(growth((size) => expect(bodyDifferences(sent, given(size))).toEqual(expected), 20_000)).toBeLessThan(1.5);
  });

  it('take time that grows with the number of escapes, not with its square', () => {
    const run = (size: number): void => {
      const text = JSON.stringify({ name: 'João'.repeat(size) });
      expect(bodyDifferences(text, text.replaceAll('J', '\\u004a'))).toEqual(['unicode_escapes']);
    };
    expect(growth(run, 20_000)).toBeLessThan(1.5);
  });

  it('are found for JSON nested too deep to serialize', () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    expect(isSameJson(deep, deep)).toBe(false);
    expect(bodyDifferences(sent, deep)).toEqual(['content']);
  });
});

describe('reading bodies', () => {
  it('compacts JSON, and returns nothing for other texts', () => {
    expect(compactJson(` ${JSON.stringify(body, null, 4)}\n`)).toBe(sent);
    expect(compactJson(`\ufeff${sent}`)).toBe(sent);
    expect(compactJson('{')).toBeNull();
    expect(compactJson('')).toBeNull();
  });

  it('restores a text that was read in a wrong character set', () => {
    expect(readAsUtf8(Buffer.from('João €').toString('latin1'))).toBe('João €');
  });
});
