import { domainToASCII } from 'node:url';
import { isEmail } from 'class-validator';
import type { Violation } from '../core/errors/index.js';
import { hasControls } from '../core/text.js';

/** Texts that mail servers and their clients read as one bare address: no quotes, comments or lists. */
const PLAIN = /^[\x21\x23-\x27\x2a\x2b\x2d-\x39\x3d\x3f\x41-\x5a\x5e-\x7e]+@[^\s\p{Cc}@<>()[\]\\,;:"]+$/u;

/**
 * Returns a single spelling for variants of an e-mail: compatibility forms of Unicode, capitals, blanks around it, and
 * a domain in Unicode. The domain becomes ASCII (`loja@café.example` is `loja@xn--caf-dma.example`).
 */
export function normalizeEmail(email: string): string {
  const text = email.normalize('NFKC').trim().toLowerCase();
  const at = text.lastIndexOf('@') + 1;
  const domain = text.slice(at);
  // In a URL these characters would end the host, and the domain is read as a host here. `isMailAddress` refuses such
  // e-mails.
  const ascii = /[/?#%:\\[\]]/.test(domain) ? '' : domainToASCII(domain);
  return ascii === '' ? text : text.slice(0, at) + ascii;
}

/** @param email normalised; ASCII before the @, since other letters that look alike would name two people */
export function isMailAddress(email: string): boolean {
  // .local and the like are allowed: the demo owner has such an address.
  return PLAIN.test(email) && !hasControls(email) && isEmail(email, { require_tld: false });
}

export function checkEmail(email: string): Violation[] {
  return isMailAddress(email) ? [] : [{ param: 'email', code: 'invalid', message: 'must be an e-mail address' }];
}
