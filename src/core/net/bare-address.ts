import { isIP } from 'node:net';

/** An address with a port, as some proxies write it into `X-Forwarded-For`: 192.0.2.1:40000, [2001:db8::1]:40000. */
const WITH_PORT = /^(?:\[(?<six>[^\]]+)\](?::\d+)?|(?<four>[\d.]+):\d+)$/;

/**
 * Reads an address as proxies and sockets write it: without port, brackets and zone, and an IPv4 caller of a socket for
 * both families as IPv4. A text that is no address comes back as it is.
 */
export function bareAddress(address: string): string {
  const { six, four } = WITH_PORT.exec(address)?.groups ?? {};
  const [bare = ''] = (six ?? four ?? address).split('%', 1);
  if (isIP(bare) !== 6) return bare;
  const groups = groupsOf(bare);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return bare;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** The eight numbers of an IPv6 address. */
export function groupsOf(address: string): number[] {
  // URLs have one spelling of an address, with its last 32 bits in hex too.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail] = canonical.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = tail ? Array<string>(8 - head.length - tail.length).fill('0') : [];
  return [...head, ...zeros, ...(tail ?? [])].map((group) => Number.parseInt(group, 16));
}
