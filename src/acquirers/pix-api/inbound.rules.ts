import { BlockList, isIP } from 'node:net';
import type { InboundAuthentication } from './profile.js';

/** What is known of who calls. */
export interface Caller {
  /** Of the PSP: behind a proxy what the proxy says. */
  readonly address: string;
  /** What a trusted proxy says of the PSP's client certificate; null: no proxy of ours checks certificates. */
  readonly certified: boolean | null;
}

/** @returns why a callback is not believed to be the PSP's, or null when it is */
export function inboundProblem(rules: InboundAuthentication, caller: Caller): 'certificate' | 'address' | null {
  if (rules.mtls && caller.certified === false) return 'certificate';
  if (rules.addresses !== null && !isListed(rules.addresses, caller.address)) return 'address';
  return null;
}

function isListed(addresses: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const entry of addresses) {
    const [network = '', length] = entry.split('/');
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    if (length === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(length), family);
  }
  // An IPv4 caller of a socket that listens on both is written as IPv6.
  const bare = address.replace(/^::ffff:(?=[\d.]+$)/i, '');
  const family = isIP(bare);
  return family !== 0 && list.check(bare, family === 6 ? 'ipv6' : 'ipv4');
}
