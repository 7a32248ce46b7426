import type { SecretBox } from '../../core/crypto/index.js';
import { withoutTrailingSlashes } from '../../core/text.js';

/** Purpose of the signature that is the secret of a callback's address. */
const PURPOSE = 'pix-callback';

/**
 * Address to which a PSP reports for one connection; PSPs may append `/pix`. Somebody who knows it can make us query
 * the PSP, and nothing more. Still it is a secret: never logged, never stored.
 * @param number of the secret; the address does not show the number of the first one
 */
export function callbackUrl(publicBaseUrl: string, secrets: SecretBox, connectionId: string, number = 1): string {
  const signature = secrets.sign(PURPOSE, signedText(connectionId, number));
  return `${publicBaseUrl}/callbacks/pix/${connectionId}/${number === 1 ? '' : `${number}.`}${signature}`;
}

/**
 * Whether `registered`, as a PSP shows it, is our address: some PSPs show it with the `/pix` or `/` that they append.
 */
export function isSameCallback(registered: string, ours: string): boolean {
  const bare = (address: string): string | null => {
    if (!URL.canParse(address.trim())) return null;
    const { origin, pathname, search } = new URL(address.trim());
    return `${origin}${withoutTrailingSlashes(withoutTrailingSlashes(pathname).replace(/\/pix$/, ''))}${search}`;
  };
  const called = bare(registered);
  return called !== null && called === bare(ours);
}

/** The address without its secret, for people. */
export function callbackUrlHint(publicBaseUrl: string, connectionId: string): string {
  return `${publicBaseUrl}/callbacks/pix/${connectionId}/…`;
}

/** @returns the number of the connection's secret; null for a text that never was one */
export function callbackSecretNumber(secrets: SecretBox, connectionId: string, secret: string): number | null {
  const { digits = '1', signature = '' } = SECRET.exec(secret)?.groups ?? {};
  const number = Number(digits);
  return secrets.isSigned(PURPOSE, signedText(connectionId, number), signature) ? number : null;
}

/** The number of the first secret is left out. */
const SECRET = /^(?:(?<digits>[2-9]|[1-9]\d{1,8})\.)?(?<signature>[^.]+)$/;

function signedText(connectionId: string, number: number): string {
  return number === 1 ? connectionId : `${connectionId} ${number}`;
}
