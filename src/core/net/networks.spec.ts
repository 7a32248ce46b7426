import { describe, expect, it } from '@jest/globals';
import { isNetwork, isWithin } from './networks.js';

describe('a network', () => {
  it.each(['203.0.113.7', '203.0.113.0/24', '0.0.0.0/0', '2001:db8::1', '2001:db8::/32', '::/0'])(
    'may be written as %s',
    (text) => {
      expect(isNetwork(text)).toBe(true);
    },
  );

  it.each(['', 'example.com', '203.0.113', '203.0.113.7/33', '203.0.113.7/', '203.0.113.7/8/8', '2001:db8::/129'])(
    'may not be written as %j',
    (text) => expect(isNetwork(text)).toBe(false),
  );

  it.each(['fe80::1%eth0', '203.0.113.7/-1', '203.0.113.7/+8', '203.0.113.7/8 ', '0x7f.1'])(
    'may not be written as %j, which looks like one',
    (text) => {
      expect(isNetwork(text)).toBe(false);
    },
  );

  it.each([
    ['203.0.113.7', true],
    ['203.0.113.8', false],
    ['198.51.100.200', true],
    ['198.51.101.1', false],
    ['::ffff:203.0.113.7', true],
    ['2001:db8:1::9', true],
    ['2001:db9::9', false],
    ['', false],
    ['nobody', false],
  ])('list contains %s: %s', (address, expected) => {
    expect(isWithin(['203.0.113.7', '198.51.100.0/24', '2001:db8::/32'], address)).toBe(expected);
  });

  it('list that is empty contains no address', () => {
    expect(isWithin([], '203.0.113.7')).toBe(false);
  });
});
