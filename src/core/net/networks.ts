import { BlockList, isIP } from 'node:net';
import { bareAddress } from './bare-address.js';

/** Whether the text is an IP address, or a network in CIDR notation, as in `203.0.113.0/24` or `2001:db8::/32`. */
export function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || rest.length > 0) return false;
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128));
}

/** @param networks each passes isNetwork */
export function isWithin(networks: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', length] = network.split('/');
    const family = isIP(base) === 6 ? 'ipv6' : 'ipv4';
    if (length === undefined) list.addAddress(base, family);
    else list.addSubnet(base, Number(length), family);
  }
  const bare = bareAddress(address);
  const family = isIP(bare);
  return family !== 0 && list.check(bare, family === 6 ? 'ipv6' : 'ipv4');
}
