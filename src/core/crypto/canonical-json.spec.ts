import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, fingerprintOf } from './canonical-json.js';

/** Returns an equal value whose objects have their keys in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, shuffled(inner)]),
  );
}

describe('canonical JSON', () => {
  it('sorts the keys of every object and nothing else', () => {
    expect(canonicalJson({ b: [3, { d: 1, c: null }], a: 'x', B: true })).toBe(
      '{"B":true,"a":"x","b":[3,{"c":null,"d":1}]}',
    );
  });

  it('is the same for any order of keys, and parses to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(shuffled(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('leaves out undefined values, as JSON does', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  it('keeps keys that have a meaning in JavaScript', () => {
    const value: unknown = JSON.parse('{"constructor":1,"__proto__":{"x":1},"toString":2}');
    expect(canonicalJson(value)).toBe('{"__proto__":{"x":1},"constructor":1,"toString":2}');
  });
});

describe('a fingerprint', () => {
  it('is SHA-256 of the canonical JSON', () => {
    // printf '{"a":1,"b":[true]}' | sha256sum
    expect(fingerprintOf({ b: [true], a: 1 }).toString('hex')).toBe(
      '90eddf64b875cb5fa184bb12503cc7309b6ce21b175521a80bd8d83082bae604',
    );
  });

  it.each([
    [{ a: 1 }, { a: '1' }],
    [{ a: null }, {}],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: { b: 1 } }, { a: 1, b: 1 }],
  ])('differs between %j and %j', (one, other) => {
    expect(fingerprintOf(one).equals(fingerprintOf(other))).toBe(false);
  });
});
