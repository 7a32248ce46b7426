import type { ConfirmedEvidence, Evidence } from './evidence.js';

export interface EvidenceTicketBody {
  id: string;
  object: 'med_case_evidence_upload';
  upload_url: string;
  upload_method: 'PUT';
  upload_headers: { 'Content-Type': string; 'Content-Length': string };
  expires_in: number;
}

export interface EvidenceBody {
  id: string;
  object: 'med_case_evidence';
  file_name: string;
  file_size: number;
  mime_type: string;
  uploaded_by: Evidence['uploadedBy'];
  created_at: string;
  uploaded_at: string;
  view_url: string;
}

export interface EvidenceListBody {
  object: 'list';
  data: EvidenceBody[];
}

/** Evidence with a link to its file, made for this answer. */
export interface ShownEvidence {
  readonly evidence: ConfirmedEvidence;
  readonly viewUrl: string;
}

/** @param expiresIn seconds that the URL holds */
export function evidenceTicket(evidence: Evidence, uploadUrl: string, expiresIn: number): EvidenceTicketBody {
  return {
    id: evidence.id,
    object: 'med_case_evidence_upload',
    upload_url: uploadUrl,
    upload_method: 'PUT',
    upload_headers: { 'Content-Type': evidence.mimeType, 'Content-Length': String(evidence.fileSize) },
    expires_in: expiresIn,
  };
}

export function evidenceBody({ evidence, viewUrl }: ShownEvidence): EvidenceBody {
  return {
    id: evidence.id,
    object: 'med_case_evidence',
    file_name: evidence.fileName,
    file_size: evidence.fileSize,
    mime_type: evidence.mimeType,
    uploaded_by: evidence.uploadedBy,
    created_at: evidence.createdAt.toISOString(),
    uploaded_at: evidence.uploadedAt.toISOString(),
    view_url: viewUrl,
  };
}

export function evidenceList(shown: readonly ShownEvidence[]): EvidenceListBody {
  return { object: 'list', data: shown.map(evidenceBody) };
}
