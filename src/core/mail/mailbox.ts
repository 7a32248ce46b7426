import { domainToASCII } from 'node:url';
import { fingerprintOf } from '../crypto/index.js';

/** Domains of one provider, which ignores dots before the @. */
const WITHOUT_DOTS = ['gmail.com', 'googlemail.com'];

/**
 * Identifies the mailbox behind an address, however it is spelt: `ana+x@Example.com` is ana's.
 * @returns a hash, which names no person
 */
export function mailboxOf(address: string): string {
  const text = address.normalize('NFKC').trim().toLowerCase();
  const at = text.lastIndexOf('@');
  const [name = ''] = text.slice(0, at).split('+');
  const domain = domainToASCII(text.slice(at + 1)) || text.slice(at + 1);
  const isDotless = WITHOUT_DOTS.includes(domain);
  return fingerprintOf(isDotless ? [name.replaceAll('.', ''), 'gmail.com'] : [name, domain]).toString('base64url');
}
