/** Identifiers that travel with a Pix. All are drawn from the operating system's random source. */
import { randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ISPB = /^[0-9]{8}$/;
const END_TO_END_ID = /^E([0-9]{8})([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})[A-Za-z0-9]{11}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Makes an end-to-end id: `E`, the payer bank's ISPB, minute of initiation in UTC (yyyyMMddHHmm), 11 alphanumerics.
 * Throws a RangeError for an ISPB that is not 8 digits or a date it cannot write.
 * Source: BACEN, Manual de Padrões / Catálogo de Mensagens do SPI, EndToEndIdentification.
 */
export function newEndToEndId(ispb: string, initiatedAt: Date): string {
  return spiId('E', ispb, initiatedAt);
}

/**
 * Makes SPI's id of a devolution (`rtrId`, pacs.004): like an end-to-end id, with `D` and the returning bank's ISPB.
 */
export function newRtrId(ispb: string, requestedAt: Date): string {
  return spiId('D', ispb, requestedAt);
}

/** Bank and minute of an end-to-end id, or null for another form or an impossible minute. */
export function parseEndToEndId(text: string): { ispb: string; initiatedAt: Date } | null {
  const match = END_TO_END_ID.exec(text);
  if (match === null) return null;
  const [, ispb = '', year, month, day, hour, minute] = match;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:00.000Z`;
  const initiatedAt = new Date(iso);
  // Date reads 31 February as 3 March and 24:00 as the next day: only a date that is written back unchanged was valid.
  if (Number.isNaN(initiatedAt.getTime()) || initiatedAt.toISOString() !== iso) return null;
  return { ispb, initiatedAt };
}

/**
 * Whether the text has the full form of an end-to-end id. API Pix itself only promises 32 alphanumerics, so an id that
 * an acquirer has confirmed must not be refused by this check.
 */
export function isEndToEndId(text: string): boolean {
  return parseEndToEndId(text) !== null;
}

/**
 * Makes the txid of a Pix charge: 26 alphanumerics, the shortest that API Pix allows (26 to 35). A short txid leaves
 * more of the BR Code's location to the host. No UUID has that length, so a txid never equals an id of ours.
 */
export function newTxid(): string {
  return randomAlphanumeric(26);
}

/** Whether the text may be the txid of a charge at an acquirer. Source: API Pix, schema TxId. */
export function isTxid(text: string): boolean {
  return /^[a-zA-Z0-9]{26,35}$/.test(text);
}

/**
 * Makes the id of a devolution request (`PUT /pix/{e2eid}/devolucao/{id}`, 1 to 35 alphanumerics).
 *
 * The `seed` is the refund's UUID or the returned Pix's end-to-end id, so the id is the same at every attempt. A retry
 * after a time-out then requests the same devolution; a fresh id would return the money twice. Without a seed the id is
 * random. Throws a RangeError for a seed that is neither a UUID nor 1 to 35 alphanumerics: dropping characters of an
 * arbitrary text could give two refunds one id.
 */
export function newReturnId(seed?: string): string {
  if (seed === undefined) return randomAlphanumeric(32);
  if (UUID.test(seed)) return seed.replaceAll('-', '').toLowerCase();
  if (isReturnId(seed)) return seed;
  throw new RangeError('a devolution id is derived from a UUID or from 1 to 35 letters and digits');
}

/** Whether the text may be a devolution id. Source: API Pix, schema DevolucaoId. */
export function isReturnId(text: string): boolean {
  return /^[a-zA-Z0-9]{1,35}$/.test(text);
}

function spiId(letter: 'E' | 'D', ispb: string, at: Date): string {
  if (!ISPB.test(ispb)) throw new RangeError('an ISPB has 8 digits');
  // Throws a RangeError of its own for an invalid date; beyond year 9999 it writes a sign and six digits.
  const iso = at.toISOString();
  if (iso.length !== 24) throw new RangeError('the year must have four digits');
  return `${letter}${ispb}${iso.slice(0, 16).replace(/[-T:]/g, '')}${randomAlphanumeric(11)}`;
}

function randomAlphanumeric(length: number): string {
  // Why randomInt: a byte modulo 62 would make some characters likelier than others.
  return Array.from({ length }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}
