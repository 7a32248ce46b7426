import { BlockList } from 'node:net';

export type AddressClass =
  | 'public'
  | 'private'
  | 'loopback'
  | 'special-use'
  | 'unspecified'
  | 'link-local'
  | 'cloud metadata'
  | 'multicast'
  | 'reserved';

/**
 * Ranges that are not public; the first match decides. Sources: IANA's special-purpose registries (RFC 6890) and the
 * addresses at which clouds hand out credentials inside their network.
 */
const RANGES: readonly (readonly [Exclude<AddressClass, 'public'>, readonly string[]])[] = [
  // AWS, Google and Azure also use 169.254.0.0/16. Further ones: Azure, Alibaba, Oracle, AWS and Google over IPv6.
  ['cloud metadata', ['169.254.169.254/32', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32']],
  ['cloud metadata', ['fd00:ec2::/32', 'fd20:ce::254/128']],
  ['unspecified', ['0.0.0.0/8', '::/128']],
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['link-local', ['169.254.0.0/16', 'fe80::/10']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10']],
  ['multicast', ['224.0.0.0/4', 'ff00::/8']],
  // Documentation, benchmarks, protocol assignments: unused on the Internet, used in laboratories.
  ['special-use', ['192.0.0.0/24', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '198.18.0.0/15']],
  ['special-use', ['192.88.99.0/24', '2001:db8::/32', '3fff::/20', '100::/64']],
  // 240.0.0.0/4 includes 255.255.255.255, the broadcast. 2001::/23 includes Teredo, which hides an IPv4 address.
  ['reserved', ['240.0.0.0/4', '2001::/23']],
];

/** IPv6 that is in use on the Internet, or stands for an IPv4 address that may be (NAT64, RFC 6052). */
const GLOBAL = listOf(['2000::/3', '64:ff9b::/96', '::ffff:0:0/96']);

const LISTS = RANGES.map(([kind, ranges]) => [kind, listOf(ranges)] as const);

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', length = ''] = range.split('/');
    const bits = Number(length);
    if (address.includes(':')) {
      list.addSubnet(address, bits, 'ipv6');
      continue;
    }
    // IPv4 networks also inside IPv6: mapped (RFC 4291 §2.5.5.2), NAT64 (RFC 6052) and 6to4 (RFC 3056).
    const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
    const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
    list.addSubnet(address, bits, 'ipv4');
    list.addSubnet(`::ffff:${address}`, 96 + bits, 'ipv6');
    list.addSubnet(`64:ff9b::${address}`, 96 + bits, 'ipv6');
    list.addSubnet(`2002:${hex}::`, 16 + bits, 'ipv6');
  }
  return list;
}

/** @param address an IP address in any spelling that node:net takes; a zone (`%eth0`) is ignored */
export function addressClass(address: string): AddressClass {
  const [bare = ''] = address.split('%', 1);
  const family = bare.includes(':') ? 'ipv6' : 'ipv4';
  const found = LISTS.find(([, list]) => list.check(bare, family));
  if (found) return found[0];
  return family === 'ipv4' || GLOBAL.check(bare, 'ipv6') ? 'public' : 'reserved';
}
