import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scanJson } from './json-scan.js';

const parsed = (text: string): unknown => JSON.parse(text);

/** `{"a":{"a":…1…}}` of so many levels. */
const nested = (levels: number): unknown => parsed(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

describe('the scan of a body', () => {
  it('finds nothing in what can be stored', () => {
    const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\u0000'));
    // A property generator may well think of "__proto__" by itself, at any depth: that one must be found, not passed.
    const body = fc
      .dictionary(text, fc.oneof(text, fc.jsonValue({ maxDepth: 3 })))
      .map((value) => JSON.stringify(value).replaceAll('\\u0000', ''))
      .filter((json) => !json.includes('"__proto__"'));
    fc.assert(fc.property(body, (json) => expect(scanJson(parsed(json))).toEqual([])));
  });

  it.each(['constructor', 'prototype', 'toString', 'hasOwnProperty', '', 'a.b', '$gt', '🧉', '\n'])(
    'lets the key %j pass',
    (key) => {
      expect(scanJson(parsed(`{${JSON.stringify(key)}:{${JSON.stringify(key)}:1}}`))).toEqual([]);
    },
  );

  it.each([
    ['{"name":"a\\u0000b"}', 'name', 'invalid_characters'],
    ['{"name":"\\ud800"}', 'name', 'invalid_characters'],
    ['{"name":"\\udc00\\ud800"}', 'name', 'invalid_characters'],
    ['{"a":[{"b":"\\u0000"}]}', 'a.0.b', 'invalid_characters'],
    ['{"__proto__":1}', '__proto__', 'invalid_key'],
    ['{"a":{"__proto__":{"admin":true}}}', 'a.__proto__', 'invalid_key'],
    ['{"a":[{"__proto__":1}]}', 'a.0.__proto__', 'invalid_key'],
    ['{"a\\u0000":1}', 'a?', 'invalid_key'],
    ['{"\\ud800":1}', '\ufffd', 'invalid_key'],
  ])('finds what is wrong in %s', (text, param, code) => {
    expect(scanJson(parsed(text))).toEqual([{ param, code, message: expect.any(String) }]);
  });

  it('takes 20 levels and stops there, however deep it goes on', () => {
    expect(scanJson(nested(20))).toEqual([]);
    const path = Array.from({ length: 20 }, () => 'a').join('.');
    const tooDeep = [{ param: path, code: 'too_deep', message: 'is nested deeper than 20 levels' }];
    expect(scanJson(nested(21))).toEqual(tooDeep);
    expect(scanJson(nested(40_000))).toEqual(tooDeep);
  });

  it('does not follow what it refuses: a violation inside a forbidden key is not searched', () => {
    expect(scanJson(parsed('{"__proto__":{"x":"\\u0000"}}'))).toHaveLength(1);
  });

  it('names all places, up to 50', () => {
    const body = Object.fromEntries(Array.from({ length: 60 }, (_unused, index) => [`k${index}`, '\u0000']));
    expect(scanJson({ k0: '\u0000', k1: '\ud800' }).map(({ param }) => param)).toEqual(['k0', 'k1']);
    expect(scanJson(body)).toHaveLength(50);
  });

  it('echoes a key without what would break a terminal, and not more than 64 characters of it', () => {
    const key = `\u001b[31m${'x'.repeat(100)}\u0000`;
    const [violation] = scanJson({ [key]: 1 });
    expect(violation?.param).toBe(`?[31m${'x'.repeat(59)}`);
  });
});
