import type { SecretBox } from '../../core/crypto/index.js';
import { withoutTrailingSlashes } from '../../core/text.js';

/** What the secret of a callback's address is signed for. */
const PURPOSE = 'pix-callback';

/**
 * Where a PSP reports to for one connection; PSPs may append `/pix`. A caller who knows it can make us ask the PSP, and
 * nothing more, but it is a secret all the same: never logged, never stored.
 * @param number which secret; the first one's number does not stand in the address
 */
export function callbackUrl(publicBaseUrl: string, secrets: SecretBox, connectionId: string, number = 1): string {
  const signature = secrets.sign(PURPOSE, signedText(connectionId, number));
  return `${publicBaseUrl}/callbacks/pix/${connectionId}/${number === 1 ? '' : `${number}.`}${signature}`;
}

/** Whether a PSP that shows `registered` calls our address: some show it with the `/pix` or `/` that they append. */
export function isSameCallback(registered: string, ours: string): boolean {
  const bare = (address: string): string | null => {
    if (!URL.canParse(address.trim())) return null;
    const { origin, pathname, search } = new URL(address.trim());
    return `${origin}${withoutTrailingSlashes(withoutTrailingSlashes(pathname).replace(/\/pix$/, ''))}${search}`;
  };
  const called = bare(registered);
  return called !== null && called === bare(ours);
}

/** The address as people may see it: without the secret. */
export function callbackUrlHint(publicBaseUrl: string, connectionId: string): string {
  return `${publicBaseUrl}/callbacks/pix/${connectionId}/…`;
}

/** @returns which of the connection's secrets it is; null when it is none, and never was */
export function callbackSecretNumber(secrets: SecretBox, connectionId: string, secret: string): number | null {
  const { digits = '1', signature = '' } = SECRET.exec(secret)?.groups ?? {};
  const number = Number(digits);
  return secrets.isSigned(PURPOSE, signedText(connectionId, number), signature) ? number : null;
}

/** The number of the first secret is not written. */
const SECRET = /^(?:(?<digits>[2-9]|[1-9]\d{1,8})\.)?(?<signature>[^.]+)$/;

function signedText(connectionId: string, number: number): string {
  return number === 1 ? connectionId : `${connectionId} ${number}`;
}
