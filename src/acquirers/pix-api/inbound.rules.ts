import { isWithin } from '../../core/net/index.js';
import type { InboundAuthentication } from './profile.js';

/** What is known of who calls. */
export interface Caller {
  /** The PSP's address; behind a proxy, what the proxy says. */
  readonly address: string;
  /** What a trusted proxy says of the PSP's client certificate; null: no proxy of ours checks certificates. */
  readonly certified: boolean | null;
}

/** @returns why a callback is not believed to be the PSP's, or null when it is */
export function inboundProblem(rules: InboundAuthentication, caller: Caller): 'certificate' | 'address' | null {
  if (rules.mtls && caller.certified === false) return 'certificate';
  if (rules.addresses !== null && !isWithin(rules.addresses, caller.address)) return 'address';
  return null;
}
