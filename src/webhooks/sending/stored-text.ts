import { isAscii } from 'node:buffer';

/** Most bytes of a receiver's answer that are stored (docs/contract.md#attempts). */
export const MAX_RESPONSE_BYTES = 8 * 1024;

/**
 * Makes unknown bytes storable in PostgreSQL: valid UTF-8 without NUL. A NUL would fail the INSERT of the whole
 * attempt.
 * @returns at most 8 KiB in UTF-8; a character that the limit cuts through is left out
 */
export function toStorableText(bytes: Buffer): string {
  const start = bytes.subarray(0, MAX_RESPONSE_BYTES);
  // Most answers are an "OK" or nothing; a decoder costs as much as the rest of the attempt's record.
  if (isAscii(start) && !start.includes(0)) return start.toString('latin1');
  const text = decode(start).replaceAll('\0', '\uFFFD');
  // A bad byte becomes a replacement character of three bytes.
  return decode(Buffer.from(text, 'utf8').subarray(0, MAX_RESPONSE_BYTES));
}

function decode(bytes: Uint8Array): string {
  // As a stream that never ends, the decoder holds back an unfinished last character.
  return new TextDecoder('utf-8').decode(bytes, { stream: true });
}
