import { BlockList, isIP } from 'node:net';
import type { Config } from '../core/config/index.js';
import type { Mode } from '../core/mode.js';

export const MAX_URL_LENGTH = 2048;

/** Never a receiver, whatever the settings: unspecified, link-local (cloud metadata lives there), multicast. */
const NEVER = new BlockList();
NEVER.addSubnet('0.0.0.0', 8, 'ipv4');
NEVER.addSubnet('169.254.0.0', 16, 'ipv4');
NEVER.addSubnet('224.0.0.0', 3, 'ipv4');
NEVER.addAddress('::', 'ipv6');
NEVER.addSubnet('fe80::', 10, 'ipv6');
NEVER.addSubnet('ff00::', 8, 'ipv6');

/** Receivers inside our own network: only where the operator wants them (WEBHOOK_ALLOW_PRIVATE). */
const PRIVATE = new BlockList();
PRIVATE.addSubnet('10.0.0.0', 8, 'ipv4');
PRIVATE.addSubnet('100.64.0.0', 10, 'ipv4');
PRIVATE.addSubnet('127.0.0.0', 8, 'ipv4');
PRIVATE.addSubnet('172.16.0.0', 12, 'ipv4');
PRIVATE.addSubnet('192.168.0.0', 16, 'ipv4');
PRIVATE.addAddress('::1', 'ipv6');
PRIVATE.addSubnet('fc00::', 7, 'ipv6');

/**
 * Whether webhooks may go to `url` (decisions §4.8): live mode takes https only, test mode also http; a host that is
 * evidently not public is taken only with WEBHOOK_ALLOW_PRIVATE. This is the one place for these rules. It sees the
 * text of the URL: what a name resolves to is known only when connecting.
 * @returns what the URL must be, for the caller to read; null when it may be used
 */
export function checkUrl(url: string, mode: Mode, config: Pick<Config, 'webhooks'>): string | null {
  if (url.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  // URL forgives blanks, tabs and missing slashes, and PostgreSQL refuses NUL: what is stored is what was sent.
  if (!/^https?:\/\/[^\s\p{Cc}\\]+$/iu.test(url) || !URL.canParse(url)) {
    return 'must be an absolute URL that starts with https:// or http://';
  }
  const parsed = new URL(url);
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain a user name or password';
  if (mode === 'live' && parsed.protocol !== 'https:') return 'must start with https:// in live mode';
  return checkHost(parsed.hostname, config.webhooks.allowPrivate);
}

/** @param hostname as URL gives it: lower case, every spelling of an IPv4 address normalised, IPv6 in brackets */
function checkHost(hostname: string, allowPrivate: boolean): string | null {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const version = isIP(host);
  if (version === 0) {
    const isLocal = host === 'localhost' || host.endsWith('.localhost');
    return isLocal && !allowPrivate ? 'must have a public host' : null;
  }
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (NEVER.check(host, family)) return 'must not have a link-local, multicast or unspecified address';
  return PRIVATE.check(host, family) && !allowPrivate ? 'must have a public host' : null;
}
