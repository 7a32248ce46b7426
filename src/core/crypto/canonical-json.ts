import { createHash } from 'node:crypto';

/** JSON with the keys of every object sorted, so that two bodies that mean the same have the same fingerprint. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** SHA-256 over the canonical JSON. */
export function fingerprintOf(value: unknown): Buffer {
  return createHash('sha256').update(canonicalJson(value)).digest();
}
