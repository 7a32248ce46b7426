import { isWithin } from '../../core/net/index.js';
import type { InboundAuthentication } from './profile.js';

/** The known facts about a caller. */
export interface Caller {
  /** The PSP's address; behind a proxy, the address that the proxy reports. */
  readonly address: string;
  /** A trusted proxy's verdict on the PSP's client certificate; null: no proxy of ours checks certificates. */
  readonly certified: boolean | null;
}

/** @returns why a callback is not accepted as the PSP's, or null when it is */
export function inboundProblem(rules: InboundAuthentication, caller: Caller): 'certificate' | 'address' | null {
  if (rules.mtls && caller.certified === false) return 'certificate';
  if (rules.addresses !== null && !isWithin(rules.addresses, caller.address)) return 'address';
  return null;
}
