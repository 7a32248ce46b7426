import type { EventFamily } from '../../outbox/index.js';

/** Parsed value of X-Service-Signature. */
export interface SignatureForm {
  readonly family: EventFamily;
  /** Unix seconds; 0 in the legacy family, which signs no time. */
  readonly timestamp: number;
  readonly signatures: readonly string[];
}

export interface SignatureFault {
  readonly reason: 'wrong_scheme' | 'malformed_signature';
  readonly message: string;
}

export const USE_AS_TEXT = 'use its 64 characters as text, as they are, for the key of the HMAC.';

/** @returns what is wrong with the form of a secret, without revealing any of it; null for a well-formed one */
export function faultOfSecret(secret: string): string | null {
  const isGood = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);
  if (isGood(secret)) return null;
  if (isGood(secret.trim())) return 'The secret has white space or a line break around it; remove it.';
  if (isGood(secret.replace(/^(["'])(.*)\1$/, '$2'))) return 'The secret has quotation marks around it; remove them.';
  if (isGood(secret.toLowerCase())) return 'The secret has upper-case letters; use it as it was shown, in lower case.';
  if (secret.startsWith('ak_')) return 'This is an API key; webhooks are signed with the secret of their endpoint.';
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(secret) || (Buffer.byteLength(secret) === 32 && !/^[0-9a-f]*$/.test(secret))) {
    return `The secret looks decoded from hex to bytes; ${USE_AS_TEXT}`;
  }
  return `The secret has ${secret.length} characters; it is 64 hex characters as shown on registration or rotation.`;
}

export function parseSignature(text: string): SignatureForm | SignatureFault {
  const parts = text.split(',').map((part) => {
    const at = part.indexOf('=');
    return at < 0 ? { name: '', value: part } : { name: part.slice(0, at), value: part.slice(at + 1) };
  });
  const valuesOf = (name: string): string[] => parts.filter((part) => part.name === name).map(({ value }) => value);
  const [times, v1, sha256] = [valuesOf('t'), valuesOf('v1'), valuesOf('sha256')];
  if (times.length + v1.length + sha256.length === 0) {
    const message =
      'The scheme of the signature is not known: canonical events have `t=<unix>,v1=<hex>`, legacy events `sha256=<hex>`.';
    return { reason: 'wrong_scheme', message };
  }
  const signatures = [...v1, ...sha256];
  const isCanonical = times.length === 1 && /^\d{1,11}$/.test(times[0] ?? '') && v1.length > 0 && sha256.length === 0;
  const isLegacy = times.length === 0 && v1.length === 0;
  const isWhole =
    parts.length === times.length + signatures.length &&
    parts.length <= 10 &&
    signatures.every((signature) => /^[0-9a-f]{64}$/.test(signature));
  if (!isWhole || !(isCanonical || isLegacy)) {
    const message =
      'The signature is not complete: it is `t=<unix>,v1=<64 lower-case hex digits>` or `sha256=<64 lower-case hex digits>`, without spaces.';
    return { reason: 'malformed_signature', message };
  }
  return { family: isCanonical ? 'canonical' : 'legacy', timestamp: Number(times[0] ?? 0), signatures };
}

/** The family of a payload, by the shape of its envelope; null when it is neither of ours. */
export function familyOf(payload: string): EventFamily | null {
  let body: unknown;
  try {
    body = JSON.parse(payload);
  } catch {
    return null;
  }
  if (body === null || typeof body !== 'object') return null;
  const { object, event } = body as { object?: unknown; event?: unknown };
  if (object === 'event') return 'canonical';
  return typeof event === 'string' ? 'legacy' : null;
}
