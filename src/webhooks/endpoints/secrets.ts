import { randomBytes } from 'node:crypto';

/** 64 hex characters. */
export function newSecret(): string {
  return randomBytes(32).toString('hex');
}

/** Writes a secret in the form of Standard Webhooks, whose libraries sign with its 32 bytes and not with its text. */
export function standardSecret(secret: string): string {
  return `whsec_${Buffer.from(secret, 'hex').toString('base64')}`;
}

/** Reads a secret that a merchant gives, in our own form or in that of Standard Webhooks. */
export function plainSecret(given: string): string {
  const [, bytes] = /^whsec_([A-Za-z0-9+/]{43}=?)$/.exec(given) ?? [];
  return bytes === undefined ? given : Buffer.from(bytes, 'base64').toString('hex');
}

/** @returns until when the secret before a rotation signs too; null when it stops at once */
export function overlapEnd(now: Date, overlapSeconds: number): Date | null {
  return overlapSeconds === 0 ? null : new Date(now.getTime() + overlapSeconds * 1000);
}
