import { isIP } from 'node:net';
import { bareAddress, groupsOf } from '../net/index.js';
import type { RateLimiter, RateLimitPolicy, RateLimitResult } from './rate-limiter.js';

/** Factor of a /48's budget over that of a /64. Providers commonly give a customer a /48, which has 65 536 of them. */
const SITE_SHARE = 8;

/**
 * Returns the bucket of addresses that a limit per address counts together. IPv4: the address, however it is spelt.
 * IPv6: its /64, since one customer has all of it.
 * @param address a text that is no address stands for itself
 * @returns for example `192.0.2.1` or `2001:db8:0:1::/64`
 */
export function addressBucket(address: string): string {
  const bare = bareAddress(address);
  if (isIP(bare) !== 6) return bare;
  const network = groupsOf(bare)
    .slice(0, 4)
    .map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** Returns the /48 of a bucket; null for IPv4. @param bucket of `addressBucket` */
export function siteBucket(bucket: string): string | null {
  return bucket.endsWith('::/64') ? `${bucket.split(':').slice(0, 3).join(':')}::/48` : null;
}

/**
 * Returns the network of an address: the /24 of an IPv4 address, the /48 of an IPv6 one. A single caller often has all
 * its addresses. Use it only to order turns and never to refuse: other people may share the network.
 */
export function networkOf(address: string): string {
  const bucket = addressBucket(address);
  return siteBucket(bucket) ?? bucket.split('.').slice(0, 3).join('.');
}

/**
 * Takes a token for an address: from its own bucket, and for IPv6 also from the larger one of its /48. If the first
 * bucket refuses, the second loses nothing, so one /64 cannot use up its neighbours' budget.
 * @param name the limited action; part of the key
 */
export async function takeForAddress(
  limiter: RateLimiter,
  name: string,
  address: string,
  policy: RateLimitPolicy,
): Promise<RateLimitResult> {
  const bucket = addressBucket(address);
  const own = await limiter.take(`${name}:${bucket}`, policy);
  const site = siteBucket(bucket);
  if (!own.allowed || site === null) return own;
  const { rate, burst } = policy;
  const shared = await limiter.take(`${name}:${site}`, { rate: rate * SITE_SHARE, burst: burst * SITE_SHARE });
  return shared.allowed ? own : shared;
}
