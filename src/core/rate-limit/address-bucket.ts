import { isIP } from 'node:net';
import { bareAddress, groupsOf } from '../net/index.js';
import type { RateLimiter, RateLimitPolicy, RateLimitResult } from './rate-limiter.js';

/** How many times the budget of a /64 its /48 has: a provider's customer commonly gets that much, 65 536 of the former. */
const SITE_SHARE = 8;

/**
 * Addresses that a limit per address counts together. IPv4: the address, however it is spelt; IPv6: its /64, all of
 * which one customer has.
 * @param address what is no address stands for itself
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

/** The /48 that a bucket is of; null: IPv4. @param bucket of `addressBucket` */
export function siteBucket(bucket: string): string | null {
  return bucket.endsWith('::/64') ? `${bucket.split(':').slice(0, 3).join(':')}::/48` : null;
}

/**
 * The network of an address: the /24 of an IPv4 address, the /48 of an IPv6 one. One caller often has all addresses of such
 * a network. It decides whose turn is next, and refuses nobody: a stranger's neighbours may be others.
 */
export function networkOf(address: string): string {
  const bucket = addressBucket(address);
  return siteBucket(bucket) ?? bucket.split('.').slice(0, 3).join('.');
}

/**
 * Takes a token for an address: from its own bucket, and for IPv6 also from the larger one of its /48. What the first
 * refuses takes nothing of the second, so that one /64 cannot use up what its neighbours have.
 * @param name what is limited; part of the key
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
