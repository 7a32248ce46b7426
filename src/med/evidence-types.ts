/** Source: docs/contract.md#evidence. */
export const EVIDENCE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'application/pdf'] as const;
export type EvidenceType = (typeof EVIDENCE_TYPES)[number];

/** Extensions of a type, by which a computer chooses the program that opens the file; the usual one first. */
export const EXTENSIONS: Readonly<Record<EvidenceType, readonly [string, ...string[]]>> = {
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg'],
  'image/webp': ['webp'],
  'image/gif': ['gif'],
  'application/pdf': ['pdf'],
};

/** 10 MB, as the contract calls them. */
export const MAX_FILE_SIZE = 10 * 1024 * 1024;

/** How much of a file tells its type. */
export const HEAD_BYTES = 64;

/** What a file of the type starts with, read as Latin-1. */
const STARTS: Readonly<Record<EvidenceType, RegExp>> = {
  'image/png': /^\x89PNG\r\n[^]\n[^]{4}IHDR/,
  'image/jpeg': /^\xff\xd8\xff/,
  'image/webp': /^RIFF[^]{4}WEBP/,
  'image/gif': /^GIF8[79]a/,
  // Some programs write a byte order mark or blank lines first, and every reader takes it.
  'application/pdf': /^(?:\xef\xbb\xbf)?\s*%PDF-\d/,
};

/** Whether a file that starts with `head` can be what its sender says it is. */
export function isOfType(type: EvidenceType, head: Buffer): boolean {
  return STARTS[type].test(head.toString('latin1'));
}
