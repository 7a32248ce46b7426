import { createHash } from 'node:crypto';
import { SCRIPT } from './checkout.script.js';
import { STYLES } from './checkout.styles.js';

/** The parts of a page on which its headers depend. */
export interface PageStyle {
  /** The merchant's own stylesheet: '' without one. */
  readonly ownStyle: string;
  /** Where the page's forms lead: nowhere without it, to this service, or on from there to a merchant. */
  readonly forms?: 'self' | 'anywhere';
}

/** A CSP source for exactly this inline text. */
export function cspHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
}

/**
 * Allows only the stylesheet, the script, and this origin's images and status. Hashes replace a nonce: they hold for
 * any number of renderings. A page cached by a proxy cannot carry another page's nonce.
 */
const STYLE_HASH = cspHash(STYLES);
const SCRIPT_HASH = cspHash(SCRIPT);

/** Browsers apply `form-action` to the redirect after a form too: without it the form may lead to the merchant. */
export function contentSecurityPolicy({ ownStyle, forms }: PageStyle): string {
  return [
    "default-src 'none'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `style-src ${STYLE_HASH}${ownStyle === '' ? '' : ` ${cspHash(ownStyle)}`}`,
    `script-src ${SCRIPT_HASH}`,
    "base-uri 'none'",
    ...(forms === 'anywhere' ? [] : [`form-action ${forms === 'self' ? "'self'" : "'none'"}`]),
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Headers of every HTML answer of this module. Anyone with the address can open the page, so logs and indexes must not
 * get it. A page with a form tells its address to this service: without that, browsers send the form from nowhere, as
 * another site's.
 */
export function pageHeaders(style: PageStyle): Readonly<Record<string, string>> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': contentSecurityPolicy(style),
    'Referrer-Policy': style.forms === 'self' ? 'same-origin' : 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Robots-Tag': 'noindex, nofollow',
    'Cache-Control': 'no-store',
    Vary: 'Accept-Language',
  };
}
