import type { AcquirerConnectionEntity } from './connections.entity.js';
import type { FeeSchedule } from './fees.js';

/** A client certificate with its key, as the PSP has handed it out. */
export type ClientCertificate =
  | { readonly kind: 'pfx'; /** Base64. */ readonly pfx: string; readonly passphrase: string | null }
  | { readonly kind: 'pem'; readonly cert: string; readonly key: string; readonly passphrase: string | null };

/** What one account needs to talk to its PSP. Only `SecretBox` sees it on its way to the database; never logged. */
export interface PixApiCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Null only where the profile asks for none. */
  readonly certificate: ClientCertificate | null;
  /** PEM of who vouches for the PSP's server, where public authorities do not. */
  readonly ca: string | null;
  /** Values of the profile's own variables, as an application key in a header or query. */
  readonly variables: Readonly<Record<string, string>>;
}

/** One account's live Pix at one PSP. Its acquirer is named `pix-api:<id>`, for ever. */
export interface PixApiConnection extends Pick<
  AcquirerConnectionEntity,
  'id' | 'accountId' | 'profile' | 'pixKey' | 'baseUrl' | 'tokenUrl' | 'version'
> {
  readonly credentials: PixApiCredentials;
  /** What the PSP charges, by the first days. */
  readonly fees: readonly FeeSchedule[];
}

export const FAMILY = 'pix-api';

/** The name that a connection's acquirer has for ever. */
export function acquirerNameOf(connectionId: string): string {
  return `${FAMILY}:${connectionId}`;
}

/** @returns null for an acquirer of another kind */
export function connectionIdOf(acquirerName: string): string | null {
  const prefix = `${FAMILY}:`;
  return acquirerName.startsWith(prefix) ? acquirerName.slice(prefix.length) : null;
}
