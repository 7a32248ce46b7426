import { describe, expect, it } from '@jest/globals';
import { withoutWords } from './payout-erasure.js';

describe('copies about a payout, when its receiver is erased', () => {
  it.each([
    ['an event', { description: 'For Zenobia', metadata: { note: 'Zenobia' } }, { description: null, metadata: {} }],
    ['an answer', { amount: 5, metadata: { description: 'For Zenobia' } }, { amount: 5, metadata: {} }],
    ['a webhook', { data: [{ object: { metadata: { a: 1 } } }] }, { data: [{ object: { metadata: {} } }] }],
  ])('lose the words of the merchant only if the metadata is erased too: %s', (_what, told, left) => {
    const json = JSON.stringify(told);
    expect(withoutWords(json, false)).toBeNull();
    expect(withoutWords(json, true)).toBe(JSON.stringify(left));
  });

  it.each(['{"amount":5,"destination":{"type":"pix_key"}}', '{"metadata":{},"description":null}', 'no JSON'])(
    'stay as they are when they have no words of the merchant: %s',
    (json) => expect(withoutWords(json, true)).toBeNull(),
  );
});
