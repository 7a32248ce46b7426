import type { EvidenceBody, EvidenceListBody, EvidenceTicketBody } from './dto/evidence.body.js';
import type { ConfirmedEvidence, Evidence } from './evidence.js';

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
