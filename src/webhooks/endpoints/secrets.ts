import { randomBytes } from 'node:crypto';

/** 64 hex characters. */
export function newSecret(): string {
  return randomBytes(32).toString('hex');
}

/** @returns until when the secret before a rotation signs too; null when it stops at once */
export function overlapEnd(now: Date, overlapSeconds: number): Date | null {
  return overlapSeconds === 0 ? null : new Date(now.getTime() + overlapSeconds * 1000);
}
