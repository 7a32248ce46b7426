import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { chargeMetadata } from './charges.service.js';
import { depthOf } from '../core/http/index.js';

describe('the metadata of a charge', () => {
  it('loses the service’s own keys (med, failure, _…) at the top level only', () => {
    expect(
      chargeMetadata(
        { med: 1, failure: 2, _x: 3, _: 4, order: { med: 1, failure: 2, _x: 3 }, Med: 5, failures: 6, x_: 7 },
        null,
      ),
    ).toEqual({ order: { med: 1, failure: 2, _x: 3 }, Med: 5, failures: 6, x_: 7 });
  });

  it.each([
    [{}, null, {}],
    [{}, 'Order 1', { description: 'Order 1' }],
    [{}, '', { description: '' }],
    [{ description: 'mine' }, null, { description: 'mine' }],
    [{ description: 'mine' }, 'Order 1', { description: 'Order 1' }],
    [{ description: { deep: true } }, 'Order 1', { description: 'Order 1' }],
  ])('is built from %o and the description %o: %o', (metadata, description, expected) => {
    expect(chargeMetadata(metadata, description)).toStrictEqual(expected);
  });

  it('keeps every other key, also those with a meaning in JavaScript, and leaves its input unchanged', () => {
    const key = fc.oneof(fc.string(), fc.constantFrom('constructor', 'toString', 'hasOwnProperty', 'valueOf', '0', ''));
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), (metadata) => {
        const copy = structuredClone(metadata);
        const kept = chargeMetadata(metadata, null);
        expect(Object.keys(kept)).toEqual(Object.keys(metadata).filter((name) => !/^(?:_.*|med|failure)$/s.test(name)));
        for (const name of Object.keys(kept)) expect(kept[name]).toEqual(metadata[name]);
        expect(metadata).toEqual(copy);
      }),
    );
  });
});

describe('the depth of a value', () => {
  it.each([
    ['a text', 0],
    [null, 0],
    [{}, 1],
    [[], 1],
    [{ a: 1 }, 1],
    [{ a: {}, b: [[{}]] }, 4],
    [{ a: { b: { c: { d: {} } } } }, 5],
  ])('is counted for %j: %d', (value, depth) => {
    expect(depthOf(value)).toBe(depth);
  });
});
