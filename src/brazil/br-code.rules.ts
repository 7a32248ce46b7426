/** Limits and forms that both sides of the BR Code share: a text that the reader refuses is never written. */
import type { BrCodeErrorCode } from './br-code.types.js';
import { normalizeTaxId } from './tax-id.js';

/**
 * Written in lower case as in the Pix manual. The BR Code manual's own example is upper case, so the reader ignores
 * case.
 */
export const PIX_GUI = 'br.gov.bcb.pix';
export const NO_TXID = '***';

/** Longest payload an EMV QR code holds. */
export const PAYLOAD_MAX = 512;
export const NAME_MAX = 25;
export const CITY_MAX = 15;
/** The 99 characters of template 26, less the GUI (4 + 14) and the header of the object itself (4). */
export const LOCATION_MAX = 77;
export const KEY_MAX = 77;
export const INFO_MAX = 72;
export const TXID_MAX = 25;

/** Object 54 holds 13 characters: 9999999999.99. */
export const AMOUNT_MAX = 999_999_999_999;

interface Fault {
  readonly code: BrCodeErrorCode;
  readonly message: string;
}

const HOST =
  /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::[0-9]{1,5})?$/;
const PATH = /^\/[A-Za-z0-9._~%!$&'()*+,;=:@/-]+$/;

/**
 * The fault of a payload location, or null. Source: Manual de Padrões para Iniciação do Pix, object 26-25: the URL
 * without the protocol. If it had one, apps that put `https://` in front would open `https://https://…`.
 */
export function locationFault(location: string): Fault | null {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(location)) {
    return { code: 'location_has_scheme', message: 'the location must not carry a scheme: write host/path' };
  }
  if (location.length > LOCATION_MAX) {
    return {
      code: 'location_too_long',
      message:
        `the location has ${location.length} characters and at most ${LOCATION_MAX} fit into template 26: ` +
        'shorten the host name or the path',
    };
  }
  const path = location.indexOf('/');
  if (path < 0 || !HOST.test(location.slice(0, path)) || !PATH.test(location.slice(path))) {
    return {
      code: 'location_invalid',
      message: 'the location must be host/path in ASCII, without blanks, query or fragment',
    };
  }
  return null;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PHONE = /^\+[1-9][0-9]{1,14}$/;
const EMAIL = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;

/** Whether the text is a Pix key as DICT stores it: bare tax id, E.164 phone, lower-case e-mail or UUID. */
export function isPixKey(key: string): boolean {
  if (key.length > KEY_MAX) return false;
  return UUID.test(key) || PHONE.test(key) || EMAIL.test(key) || normalizeTaxId(key) === key;
}

/** Whether object 62-05 names no transaction (`***`) or holds a txid a pacs.008 can carry. */
export function isBrCodeTxid(txid: string): boolean {
  return txid === NO_TXID || /^[A-Za-z0-9]{1,25}$/.test(txid);
}

/**
 * Cents of object 54, or null when it is not an amount. Source: EMV QRCPS-MPM: digits and at most one point, at most 13
 * characters. BRL has at most two decimals. Read digit by digit, without floats.
 */
export function readAmount(text: string): number | null {
  const match = text.length <= 13 ? /^([0-9]{1,10})(?:\.([0-9]{1,2}))?$/.exec(text) : null;
  if (match === null) return null;
  return Number(`${match[1] ?? ''}${(match[2] ?? '').padEnd(2, '0')}`);
}

/** Object 54 of an amount in cents: always two decimals, as in the manual's examples. */
export function writeAmount(cents: number): string {
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * Makes a text fit the standard: accents are stripped, other characters outside printable ASCII dropped, blanks
 * collapsed, then cut. Letters that no accent explains (ß, ø) have no safe reading and are dropped.
 */
export function toBrCodeText(text: string, max: number): string {
  return text
    .normalize('NFD')
    .replace(/\s+/gu, ' ')
    .replace(/[^\x20-\x7e]/gu, '')
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, max)
    .trimEnd();
}
