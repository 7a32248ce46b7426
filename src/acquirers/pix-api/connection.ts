import type { AcquirerConnectionEntity } from './acquirer-connection.entity.js';
import type { FeeSchedule } from './fees.js';

/** A client certificate with its key, as the PSP issued it. */
export type ClientCertificate =
  | { readonly kind: 'pfx'; /** Base64. */ readonly pfx: string; readonly passphrase: string | null }
  | { readonly kind: 'pem'; readonly cert: string; readonly key: string; readonly passphrase: string | null };

/** An account's credentials at its PSP. Never logged; `SecretBox` seals them before they are stored. */
export interface PixApiCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Null only if the profile requires none. */
  readonly certificate: ClientCertificate | null;
  /** PEM of the authority that signs the PSP's server certificate, if it is not a public one. */
  readonly ca: string | null;
  /** Values of the profile's own variables, such as an application key in a header or query. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Live Pix of one account at one PSP. The name of its acquirer, `pix-api:<id>`, never changes. */
export interface PixApiConnection extends Pick<
  AcquirerConnectionEntity,
  'id' | 'accountId' | 'profile' | 'pixKey' | 'baseUrl' | 'tokenUrl' | 'version'
> {
  readonly credentials: PixApiCredentials;
  /** The PSP's fees, ordered by first day. */
  readonly fees: readonly FeeSchedule[];
}

export const FAMILY = 'pix-api';

/** The permanent name of a connection's acquirer. */
export function acquirerNameOf(connectionId: string): string {
  return `${FAMILY}:${connectionId}`;
}

/** @returns null for an acquirer of another kind */
export function connectionIdOf(acquirerName: string): string | null {
  const prefix = `${FAMILY}:`;
  return acquirerName.startsWith(prefix) ? acquirerName.slice(prefix.length) : null;
}
