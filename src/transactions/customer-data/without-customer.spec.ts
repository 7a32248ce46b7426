import { describe, expect, it } from '@jest/globals';
import { withoutCustomer } from './without-customer.js';

describe('copies about a refund, when its payer is erased', () => {
  it.each([
    { data: { refund: { id: '1', object: 'refund', reason: 'Maria moved' } } },
    { event: 'payment.refunded', data: { refundId: '1', refundReason: 'Maria moved' } },
    { id: '1', transactionId: '2', amount: 100, reason: 'Maria moved' },
  ])('lose the reason only if the metadata is erased too: %j', (told) => {
    const json = JSON.stringify(told);
    expect(withoutCustomer(json, false)).toBeNull();
    expect(withoutCustomer(json, true)).toBe(json.replace('"Maria moved"', 'null'));
  });

  it('keep the reason of objects other than refunds', () => {
    expect(withoutCustomer('{"object":"med_case","reason":"fraud"}', true)).toBeNull();
  });
});
