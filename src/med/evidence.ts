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
