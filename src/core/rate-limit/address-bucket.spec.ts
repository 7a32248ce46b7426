import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressBucket, takeForAddress } from './address-bucket.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';

describe('addressBucket', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:40000', '192.0.2.1'],
    ['[::ffff:192.0.2.1]:40000', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
    ['2001:DB8:0:1::', '2001:db8:0:1::/64'],
    ['[2001:db8:0:1::9]:443', '2001:db8:0:1::/64'],
    ['[2001:db8:0:1::9]', '2001:db8:0:1::/64'],
    ['2001:0db8:0000:0001:0:0:0:9', '2001:db8:0:1::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    // Neither is mapped.
    ['::192.0.2.1', '0:0:0:0::/64'],
    ['1::ffff:192.0.2.1', '1:0:0:0::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('counts %s as %s', (address, bucket) => {
    expect(addressBucket(address)).toBe(bucket);
  });

  const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
  const groups = (count: number): fc.Arbitrary<string> =>
    fc.array(group, { minLength: count, maxLength: count }).map((parts) => parts.join(':'));

  it('gives every IPv6 /64 a bucket of its own', () => {
    fc.assert(
      // 2…: never mapped.
      fc.property(groups(3), groups(3), groups(4), groups(4), (network, other, host, guest) => {
        expect(addressBucket(`2:${network}:${host}`)).toBe(addressBucket(`2:${network}:${guest}`));
        expect(addressBucket(`2:${network}:${host}`) === addressBucket(`2:${other}:${host}`)).toBe(network === other);
      }),
    );
  });

  it('counts an IPv4 address mapped into IPv6 as the IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(addressBucket(`::ffff:${address}`)).toBe(address);
      }),
    );
  });
});

describe('a token for an address', () => {
  const policy = { rate: 0.001, burst: 3 };
  const allowed = async (limiter: MemoryRateLimiter, addresses: readonly string[]): Promise<number> => {
    const results = [];
    for (const address of addresses) results.push(await takeForAddress(limiter, 'login', address, policy));
    return results.filter((result) => result.allowed).length;
  };
  const ofSite = (network: number): string => `2001:db8:1:${network.toString(16)}::1`;

  it('is refused when its /64 has none left, and when the eightfold budget of its /48 is spent', async () => {
    const limiter = new MemoryRateLimiter();
    expect(await allowed(limiter, Array<string>(10).fill(ofSite(0)))).toBe(3);
    const networks = Array.from({ length: 100 }, (_, network) => ofSite(network + 1));
    expect(await allowed(limiter, networks)).toBe(8 * 3 - 3);
    expect(await allowed(limiter, ['2001:db8:2::1'])).toBe(1);
  });

  it('is taken from the address alone for IPv4', async () => {
    const limiter = new MemoryRateLimiter();
    const addresses = Array.from({ length: 200 }, (_, host) => `192.0.2.${host}`);
    expect(await allowed(limiter, addresses)).toBe(200);
  });
});
