import type { Evidence } from './evidence.entity.js';

export type { Evidence };

/** Evidence that counts: its file was checked and cannot change any more. */
export interface ConfirmedEvidence extends Evidence {
  readonly status: 'confirmed';
  readonly objectName: string;
  readonly uploadedAt: Date;
}

export function isConfirmed(evidence: Evidence | ConfirmedEvidence): evidence is ConfirmedEvidence {
  return evidence.status === 'confirmed';
}

/** An upload that began in time has this long to end before its rest is removed. */
const CLEANUP_MS = 3600_000;

export function cleanupAtOf({ expiresAt }: Evidence): Date {
  return new Date(expiresAt.getTime() + CLEANUP_MS);
}
