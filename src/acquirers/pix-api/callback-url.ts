import type { SecretBox } from '../../core/crypto/index.js';

/** What the secret of a callback's address is signed for. */
const PURPOSE = 'pix-callback';

/**
 * Where a PSP reports to for one connection; PSPs may append `/pix`. Whoever knows it can tell us to ask the PSP, and
 * nothing more, but it is a secret all the same: never logged, never stored.
 */
export function callbackUrl(publicBaseUrl: string, secrets: SecretBox, connectionId: string): string {
  return `${publicBaseUrl}/callbacks/pix/${connectionId}/${secrets.sign(PURPOSE, connectionId)}`;
}

/** The same for eyes: without the secret. */
export function callbackUrlHint(publicBaseUrl: string, connectionId: string): string {
  return `${publicBaseUrl}/callbacks/pix/${connectionId}/…`;
}

export function isCallbackSecret(secrets: SecretBox, connectionId: string, secret: string): boolean {
  return secrets.isSigned(PURPOSE, connectionId, secret);
}
