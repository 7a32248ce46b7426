/** Source: docs/contract.md#evidence. */
export const EVIDENCE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'application/pdf'] as const;
export type EvidenceType = (typeof EVIDENCE_TYPES)[number];

/** Extensions of each type, the usual one first. A computer chooses the program for the file by them. */
export const EXTENSIONS: Readonly<Record<EvidenceType, readonly [string, ...string[]]>> = {
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg'],
  'image/webp': ['webp'],
  'image/gif': ['gif'],
  'application/pdf': ['pdf'],
};

/** The contract's limit of 10 MB. */
export const MAX_FILE_SIZE = 10 * 1024 * 1024;

/** How many bytes of a file are read to find its type. */
export const HEAD_BYTES = 64;

/** First bytes of a file of each type, read as Latin-1. */
const STARTS: Readonly<Record<EvidenceType, RegExp>> = {
  'image/png': /^\x89PNG\r\n[^]\n[^]{4}IHDR/,
  'image/jpeg': /^\xff\xd8\xff/,
  'image/webp': /^RIFF[^]{4}WEBP/,
  'image/gif': /^GIF8[79]a/,
  // Some programs write a byte order mark or blank lines first, and every PDF reader accepts that.
  'application/pdf': /^(?:\xef\xbb\xbf)?\s*%PDF-\d/,
};

/** Returns whether a file that starts with `head` can be of the declared type. */
export function isOfType(type: EvidenceType, head: Buffer): boolean {
  return STARTS[type].test(head.toString('latin1'));
}
