/**
 * The envelope of a BR Code: EMV QRCPS-MPM objects (2-digit id, 2-digit length, value) closed by a CRC. This file knows
 * nothing about Pix.
 */

/** An object of the envelope; `value` is never empty. */
export interface TlvObject {
  readonly id: string;
  readonly value: string;
}

/** Why a text is not a TLV; `offset` counts characters from the start of that text. */
export interface TlvFault {
  readonly offset: number;
  readonly message: string;
}

/** The length has two digits, so no object can be longer, even if its field allows more. */
export const TLV_VALUE_MAX = 99;

const DIGITS = /^[0-9]{2}$/;

/** Writes an object as text. Throws a RangeError when the value is empty or longer than 99 characters. */
export function writeTlv(id: string, value: string): string {
  if (!DIGITS.test(id)) throw new RangeError(`TLV id must be two digits, got "${id}"`);
  if (value.length < 1 || value.length > TLV_VALUE_MAX) {
    throw new RangeError(`TLV object ${id} must hold 1 to ${TLV_VALUE_MAX} characters, got ${value.length}`);
  }
  return id + String(value.length).padStart(2, '0') + value;
}

/**
 * Reads the objects of `text` in order, or the first fault. A repeated id is a fault: of two amounts in one payload one
 * reader would show the first and another would pay the last.
 */
export function readTlv(text: string): { objects: TlvObject[] } | { fault: TlvFault } {
  const objects: TlvObject[] = [];
  const seen = new Set<string>();
  let offset = 0;
  while (offset < text.length) {
    const id = text.slice(offset, offset + 2);
    const length = text.slice(offset + 2, offset + 4);
    if (!DIGITS.test(id) || !DIGITS.test(length)) {
      return { fault: { offset, message: 'an object must start with a two-digit id and a two-digit length' } };
    }
    const end = offset + 4 + Number(length);
    const value = text.slice(offset + 4, end);
    if (value.length === 0) return { fault: { offset, message: `object ${id} is empty` } };
    if (end > text.length) {
      return { fault: { offset, message: `object ${id} announces ${length} characters, ${value.length} are left` } };
    }
    if (seen.has(id)) return { fault: { offset, message: `object ${id} appears twice` } };
    seen.add(id);
    objects.push({ id, value });
    offset = end;
  }
  return { objects };
}

/**
 * CRC-16/CCITT-FALSE (polynomial 0x1021, initial value 0xFFFF, not reflected, no final XOR) over the UTF-8 bytes, as
 * four upper-case hexadecimal digits. Source: EMV QRCPS-MPM, object 63; the check value of "123456789" is 29B1.
 */
export function crc16(text: string): string {
  let crc = 0xffff;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 0x8000) !== 0 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
    }
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}
