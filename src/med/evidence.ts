import type { Mode } from '../core/mode.js';
import type { EvidenceType } from './evidence-types.js';

export interface Evidence {
  /** Also its key in the object storage. */
  readonly id: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly caseId: string;
  /** As its sender called it: for reading, never a path. */
  readonly fileName: string;
  /** Bytes. */
  readonly fileSize: number;
  readonly mimeType: EvidenceType;
  readonly uploadedBy: 'merchant' | 'partner' | 'platform';
  /** `abandoned`: it was not confirmed in time, and goes. */
  readonly status: 'waiting' | 'confirmed' | 'abandoned';
  readonly createdAt: Date;
  /** When the URL for its upload ends. */
  readonly expiresAt: Date;
}

/** Evidence that counts: its file was checked and cannot change any more. */
export interface ConfirmedEvidence extends Evidence {
  readonly status: 'confirmed';
  /** Of the file, in the object storage. */
  readonly objectName: string;
  readonly uploadedAt: Date;
}

export function isConfirmed(evidence: Evidence | ConfirmedEvidence): evidence is ConfirmedEvidence {
  return evidence.status === 'confirmed';
}
