import { domainToASCII } from 'node:url';
import { fingerprintOf } from '../crypto/index.js';

/**
 * Whom a mail reaches, however its address is spelt: `ana+x@Example.com` is ana's.
 * @returns a text that names nobody
 */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf('@');
  const [name = ''] = address.slice(0, at).toLowerCase().split('+');
  const domain = address.slice(at + 1);
  return fingerprintOf([name, domainToASCII(domain) || domain.toLowerCase()]).toString('base64url');
}
