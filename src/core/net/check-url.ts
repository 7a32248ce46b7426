import { isIP } from 'node:net';
import type { Config } from '../config/index.js';
import type { Mode } from '../mode.js';
import { withoutEnd } from '../text.js';
import { type AddressClass, addressClass } from './address-class.js';

export const MAX_URL_LENGTH = 2048;

/** Settings that the rules depend on. */
export type AddressRules = Pick<Config, 'webhooks' | 'databaseUrl' | 'redisUrl'>;

/**
 * Classes of receivers inside our own network, allowed only where the operator wants them. Every other class but public
 * is always refused.
 */
const PRIVATE: ReadonlySet<AddressClass> = new Set(['private', 'loopback', 'special-use']);

/** Names that only mean something inside a network (RFC 6761, RFC 6762, RFC 8375, ICANN's .internal). */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|corp|home|home\.arpa)$/;
const METADATA_NAME =
  /^(?:metadata|instance-data|metadata\.goog|metadata\.google\.internal|instance-data\.ec2\.internal)$/;

/**
 * Ports of services that take lines of text from anybody: they could read HTTP as commands. Sources: the "bad ports" of
 * the Fetch standard, and data stores.
 */
const OTHER_SERVICES: ReadonlySet<number> = new Set([
  0, 20, 21, 22, 23, 25, 53, 69, 79, 110, 111, 113, 119, 123, 135, 137, 138, 139, 143, 161, 162, 179, 389, 427, 445,
  465, 512, 513, 514, 515, 530, 532, 540, 548, 554, 563, 587, 601, 636, 873, 989, 990, 993, 995, 1433, 1521, 1719, 1720,
  1723, 2049, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5672, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 9042, 10080, 11211, 27017, 27018, 27019,
]);

/**
 * Returns whether private and loopback addresses may be receivers. See docs/contract.md#where-webhooks-may-go.
 *
 * Live mode needs https and a public address, also with WEBHOOK_ALLOW_PRIVATE.
 *
 * Test mode takes http too. Private addresses need WEBHOOK_ALLOW_PRIVATE: on a shared server, a merchant's test keys
 * must not reach into the network.
 *
 * On the embedded default (no DATABASE_URL: one machine, one operator) WEBHOOK_ALLOW_PRIVATE is on unless set. There it
 * holds in live mode as well: traffic within the machine or its network needs no https.
 */
export function allowsPrivate(mode: Mode, rules: AddressRules): boolean {
  return rules.webhooks.allowPrivate && (mode === 'test' || rules.databaseUrl === undefined);
}

/**
 * Checks that the text is an address on the web, wherever it leads.
 * @returns the requirement it breaks, as the caller reads it; null when it is such an address
 */
export function httpUrlProblem(url: string): string | null {
  if (url.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  // The stored URL must equal the sent one: URL forgives blanks, tabs and missing slashes, and PostgreSQL refuses NUL.
  if (!/^https?:\/\/[^\s\p{Cc}\\]+$/iu.test(url) || !URL.canParse(url)) {
    return 'must be an absolute URL that starts with https:// or http://';
  }
  const { username, password } = new URL(url);
  return username === '' && password === '' ? null : 'must not contain a user name or password';
}

/**
 * Checks whether a payer's browser may be led back to `url` after a payment. A shop under development is on its own
 * machine.
 * @returns the requirement the URL breaks, as the caller reads it; null when it may be used
 */
export function returnUrlProblem(url: string, mode: Mode): string | null {
  const problem = httpUrlProblem(url);
  if (problem !== null) return problem;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || (mode === 'test' && isLoopbackHost(hostname))) return null;
  return 'must start with https://; http:// is for a loopback address with a test key';
}

/**
 * Checks whether webhooks may go to `url`, as far as its text tells; the address behind a name is known only when
 * connecting (`checkAddress`). Called at registration, and again at every attempt: an operator may have changed the
 * rules since.
 * @returns the requirement the URL breaks, as the caller reads it; null when it may be used
 */
export function checkUrl(url: string, mode: Mode, rules: AddressRules): string | null {
  const problem = httpUrlProblem(url);
  if (problem !== null) return problem;
  const { protocol, hostname, port } = new URL(url);
  const kind = hostClass(hostname);
  const isPrivate = kind !== null && PRIVATE.has(kind);
  const mayBePrivate = allowsPrivate(mode, rules);
  if (protocol === 'http:' && mode === 'live' && !(isPrivate && mayBePrivate)) {
    return 'must start with https:// in live mode';
  }
  if (isPrivate && !mayBePrivate) return 'must have a public host';
  if (kind !== null && kind !== 'public' && !isPrivate) return `must not have a ${kind} address`;
  if (port !== '' && isOtherService(Number(port), rules)) return `must not have port ${port}: it is not for HTTP`;
  return null;
}

/**
 * Checks whether a webhook may go to this address.
 * @param address from the resolver, about to be connected to
 * @returns the class that forbids it, null when it may
 */
export function checkAddress(address: string, mayBePrivate: boolean): AddressClass | null {
  const kind = addressClass(address);
  return kind === 'public' || (mayBePrivate && PRIVATE.has(kind)) ? null : kind;
}

/** Returns whether a host, as URL gives it, is certainly this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostClass(hostname) === 'loopback';
}

/**
 * @param hostname as URL gives it: lower case, decoded, every spelling of an IPv4 address normalised, IPv6 in brackets
 * @returns null for a name that says nothing about where it leads
 */
function hostClass(hostname: string): AddressClass | null {
  const host = withoutEnd(hostname.replace(/^\[|\]$/g, ''), (character) => character === '.');
  if (isIP(host) !== 0) return addressClass(host);
  if (METADATA_NAME.test(host)) return 'cloud metadata';
  return PRIVATE_NAME.test(host) || !host.includes('.') ? 'private' : null;
}

function isOtherService(port: number, rules: AddressRules): boolean {
  const own = [rules.databaseUrl, rules.redisUrl].map((url) => (url === undefined ? 0 : Number(new URL(url).port)));
  return OTHER_SERVICES.has(port) || own.includes(port);
}
