import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type JsonScan, scanJson, scanQuery } from './json-scan.js';
import { anyCharacter } from '../../../test/support/characters.js';

/** Lists the faults in a text. */
const named = (text: string): JsonScan['found']['named'] => scanJson(text).found.named;

/** Makes `{"a":{"a":…1…}}` with that many levels. */
const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('the scan of a body', () => {
  it('finds no violation in a body that can be stored', () => {
    const text = fc.string({ unit: anyCharacter }).filter((value) => !value.includes('\u0000'));
    // A property generator may well think of "__proto__" by itself, at any depth: that one must be found, not passed.
    const body = fc
      .dictionary(text, fc.oneof(text, fc.jsonValue({ maxDepth: 3 })))
      .map((value) => JSON.stringify(value).replaceAll('\\u0000', ''))
      .filter((json) => !json.includes('"__proto__"'));
    fc.assert(fc.property(body, (json) => expect(named(json)).toEqual([])));
  });

  it.each(['constructor', 'prototype', 'toString', 'hasOwnProperty', '', 'a.b', '$gt', '🧉', '\n'])(
    'accepts the key %j',
    (key) => {
      expect(named(`{${JSON.stringify(key)}:{${JSON.stringify(key)}:1}}`)).toEqual([]);
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
    ['{"metadata":{"a":{"__proto__":1}}}', 'metadata.a.__proto__', 'invalid_key'],
    ['{"a":{"metadata":{"__proto__":1}}}', 'a.metadata.__proto__', 'invalid_key'],
    ['{"metadata":[{"__proto__":1}]}', 'metadata.0.__proto__', 'invalid_key'],
    ['{"a\\u0000":1}', 'a?', 'invalid_key'],
    ['{"\\ud800":1}', '\ufffd', 'invalid_key'],
  ])('finds the violation in %s', (text, param, code) => {
    expect(named(text)).toEqual([{ param, code, message: expect.any(String) }]);
  });

  it('accepts 20 levels and stops at the next one, however deep the body is', () => {
    expect(named(nested(20))).toEqual([]);
    const path = Array.from({ length: 20 }, () => 'a').join('.');
    const tooDeep = [{ param: path, code: 'too_deep', message: 'is nested deeper than 20 levels' }];
    expect(named(nested(21))).toEqual(tooDeep);
    expect(named(nested(40_000))).toEqual(tooDeep);
  });

  it('names up to 50 violations, and counts the others', () => {
    expect(named('{"k0":"\\u0000","k1":"\\ud800"}').map(({ param }) => param)).toEqual(['k0', 'k1']);
    const body = Object.fromEntries(Array.from({ length: 60 }, (_unused, index) => [`k${index}`, '\u0000']));
    const { found } = scanJson(JSON.stringify(body));
    expect(found.named).toHaveLength(50);
    expect(found.unnamed).toBe(10);
  });

  it.each([
    ...['0', '-0', '0.0', '1', '-1', '1.0', '1e3', '1E+2', '1.5e-7', '0e999', '0.1', '0.30000000000000004', '1e21'],
    ...['999999999999', '9007199254740991', '9007199254740994', '5e-324', '1.7976931348623157e308', '1e308'],
    ...['123456789012345', '100000000000000000000000', '0.000000000000000000000000001', '1.10000000000000000000000'],
  ])('accepts the number %s', (number) => {
    expect(named(`{"a":${number}}`)).toEqual([]);
  });

  it.each([
    ...['9007199254740993', '-9007199254740993', '1.00000000000000000001', '1e400', '-1e400', '1e-400'],
    ...['1.7976931348623159e308', '12345678901234567890', '0.1234567890123456789', '4.9e-325'],
    ...[`0.${'0'.repeat(400)}1`, '1'.repeat(1_000)],
  ])('finds that the number %s would change', (number) => {
    expect(named(`{"a":[${number}]}`)).toEqual([
      { param: 'a.0', code: 'inexact_number', message: 'has more digits than a number keeps; send it as a text' },
    ]);
  });

  it('accepts every number that a program with double precision writes', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        for (const text of [JSON.stringify(number), number.toExponential()]) {
          expect(named(`{"a":${text}}`)).toEqual([]);
        }
      }),
    );
  });

  it.each([
    ['{"a":1,"a":1}', ['a']],
    ['{"a":1,"\\u0061":1}', ['a']],
    ['{"a":{"b":1,"b":2},"b":{"b":1}}', ['a.b']],
    ['[{"a":1},{"a":1,"a":1}]', ['1.a']],
    ['{"a":[{"x":1},{"x":1}],"b":{"x":1}}', []],
    ['{"":1,"":1}', ['']],
    ['{"a":1,"a":1,"a":1}', ['a', 'a']],
    ['{"a":"a","b":"a"}', []],
  ])('finds the keys that an object has twice in %s', (text, params) => {
    expect(named(text).map(({ param, code }) => `${param} ${code}`)).toEqual(
      params.map((param) => `${param} duplicate_key`),
    );
  });

  it('accepts 5 000 values, and stops at the next one', () => {
    expect(named(`[${'0,'.repeat(4_998)}0]`)).toEqual([]);
    expect(scanJson(`{"a":[${'{},'.repeat(4_998)}0]}`)).toMatchObject({
      isExcessive: true,
      found: { named: [{ param: 'a.4998', code: 'too_many_values' }] },
    });
  });

  it('stops after a thousand violations', () => {
    const { found, isExcessive } = scanJson(`[${'1e400,'.repeat(4_000)}0]`);
    expect({ isExcessive, named: found.named.length, unnamed: found.unnamed }).toEqual({
      isExcessive: true,
      named: 50,
      unnamed: 1_001,
    });
  });

  it('reads invalid JSON to its end', () => {
    const characters = fc.constantFrom(...'{}[]",:\\u0-1eE.+tfn \nx');
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 60 }), (all) => {
        expect(scanJson(all.join(''))).toBeDefined();
      }),
    );
  });

  it('finds invalid characters and keys in a query', () => {
    const query = { a: 'b', c: ['d', '\u0000'], ['e\u0000']: 'x' };
    expect(scanQuery(query).named.map(({ param, code }) => `${param}: ${code}`)).toEqual([
      'c: invalid_characters',
      'e?: invalid_key',
    ]);
  });

  it('echoes at most 64 characters of a key, without characters that break a terminal', () => {
    const key = `\u001b[31m${'x'.repeat(100)}\u0000`;
    const [violation] = named(JSON.stringify({ [key]: 1 }));
    expect(violation?.param).toBe(`?[31m${'x'.repeat(59)}`);
  });
});
