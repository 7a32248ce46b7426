import { randomBytes } from 'node:crypto';

/** 64 hex characters. */
export function newSecret(): string {
  return randomBytes(32).toString('hex');
}

/** Writes a secret in the form of Standard Webhooks, whose libraries sign with its 32 bytes and not with its text. */
export function standardSecret(secret: string): string {
  return `whsec_${Buffer.from(secret, 'hex').toString('base64')}`;
}

/** @returns until when the secret before a rotation signs too; null when it stops at once */
export function overlapEnd(now: Date, overlapSeconds: number): Date | null {
  return overlapSeconds === 0 ? null : new Date(now.getTime() + overlapSeconds * 1000);
}
