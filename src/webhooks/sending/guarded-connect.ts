import { lookup as systemLookup, Resolver } from 'node:dns/promises';
import { isIP, isIPv6, type LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { buildConnector } from 'undici';
import { type AddressClass, checkAddress } from '../../core/net/index.js';

/** Returns all addresses of a host name, best first. @throws Error with the code ENOTFOUND or EAI_AGAIN */
export type ResolveHost = (hostname: string) => Promise<string[]>;

/** The host has addresses, but webhooks may go to none of them. */
export class AddressNotAllowedError extends Error {
  override readonly name = 'AddressNotAllowedError';
  readonly code = 'ERR_ADDRESS_NOT_ALLOWED';

  constructor(readonly addressClass: AddressClass) {
    super(`${addressClass} address`);
  }
}

/**
 * Connects only to checked addresses. Every connection resolves its host and uses exactly the checked addresses, so a
 * name that changes in between gains nothing. Forbidden addresses among several are skipped. Certificate and Host
 * header stay those of the name.
 */
export function guardedConnect(options: {
  mayBePrivate: boolean;
  timeoutMs: number;
  resolve: ResolveHost;
}): buildConnector.connector {
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    allowedAddresses(hostname, options).then(
      (addresses) => {
        const answers = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        if (all === true) callback(null, answers);
        else callback(null, answers[0]?.address ?? '', answers[0]?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
  const connect = buildConnector({ timeout: options.timeoutMs, lookup });
  return (target, callback) => {
    // An IP address as the host needs no look-up.
    const refusal = isIP(target.hostname) === 0 ? null : checkAddress(target.hostname, options.mayBePrivate);
    if (refusal === null) connect(target, callback);
    else process.nextTick(callback, new AddressNotAllowedError(refusal), null);
  };
}

/** @throws AddressNotAllowedError when a webhook may go to none of them; the resolver's error */
export async function allowedAddresses(
  hostname: string,
  { mayBePrivate, resolve }: { mayBePrivate: boolean; resolve: ResolveHost },
): Promise<string[]> {
  const checked = (await resolve(hostname)).map((address) => ({
    address,
    refusal: checkAddress(address, mayBePrivate),
  }));
  const allowed = checked.filter(({ refusal }) => refusal === null);
  if (allowed.length > 0) return allowed.map(({ address }) => address);
  const refusal = checked[0]?.refusal;
  throw refusal == null ? noAddress('ENOTFOUND') : new AddressNotAllowedError(refusal);
}

/** Look-ups by the operating system at the same time. */
const MAX_SYSTEM_LOOKUPS = 2;
/** Wait for a host's second address family after the first has answered (RFC 8305 §3). */
const FAMILY_DELAY_MS = 100;

/**
 * Resolves by DNS over its own sockets. The operating system's resolver blocks one of Node's four threads until it is
 * done. A few hosts with a dead name server would delay all other names, and files and passwords too.
 * @param asSystem also uses the system's other sources (hosts file, .local), with at most half of the threads
 * @param newResolver reads the system's configuration; two tries fit into the five seconds a connection may take
 */
export function createResolver(
  asSystem: boolean,
  newResolver = (): Resolver => new Resolver({ timeout: 1_500, tries: 2 }),
): ResolveHost {
  let dns = newResolver();
  let systemLookups = 0;
  // Connections that are opened together share a look-up.
  const underWay = new Map<string, Promise<string[]>>();

  const bySystem = async (hostname: string): Promise<string[]> => {
    systemLookups++;
    try {
      return (await systemLookup(hostname, { all: true })).map(({ address }) => address);
    } finally {
      systemLookups--;
    }
  };

  const byDns = async (hostname: string): Promise<string[]> => {
    const [four, six] = [settled(dns.resolve4(hostname)), settled(dns.resolve6(hostname))];
    const first = await four;
    // Some name servers never answer for IPv6.
    const second =
      first.addresses.length > 0 ? await Promise.race([six, delay(FAMILY_DELAY_MS, NONE, { ref: false })]) : await six;
    const addresses = [...first.addresses, ...second.addresses];
    if (addresses.length > 0) return addresses;
    const isAbsent = first.isAbsent && second.isAbsent;
    // The network, and with it the name server, may have changed.
    if (!isAbsent) dns = newResolver();
    // The resolver's own error is hidden: its ECONNREFUSED is the name server's and not the receiver's.
    throw noAddress(isAbsent ? 'ENOTFOUND' : 'EAI_AGAIN');
  };

  return (hostname) => {
    // Name servers must not be queried for these names (RFC 6761 §6.3).
    if (/(?:^|\.)localhost$/.test(hostname)) return Promise.resolve(['127.0.0.1', '::1']);
    let answer = underWay.get(hostname);
    if (answer === undefined) {
      const isForSystem = asSystem && systemLookups < MAX_SYSTEM_LOOKUPS;
      answer = (isForSystem ? bySystem(hostname) : byDns(hostname)).finally(() => underWay.delete(hostname));
      underWay.set(hostname, answer);
    }
    return answer;
  };
}

interface Answers {
  readonly addresses: readonly string[];
  /** The name server answered that the name has no addresses. */
  readonly isAbsent: boolean;
}

const NONE: Answers = { addresses: [], isAbsent: true };

function settled(query: Promise<string[]>): Promise<Answers> {
  return query.then(
    (addresses) => ({ addresses, isAbsent: false }),
    ({ code }: NodeJS.ErrnoException) => ({ addresses: [], isAbsent: code === 'ENOTFOUND' || code === 'ENODATA' }),
  );
}

function noAddress(code: 'ENOTFOUND' | 'EAI_AGAIN'): Error {
  return Object.assign(new Error('no address'), { code });
}
