import type { Answer, TestService } from './service.js';

export interface TicketAnswer {
  id: string;
  object: string;
  upload_url: string;
  upload_method: string;
  upload_headers: { 'Content-Type': string; 'Content-Length': string };
  expires_in: number;
}

export interface EvidenceAnswer extends Record<string, unknown> {
  id: string;
  object: string;
  file_name: string;
  file_size: number;
  mime_type: string;
  uploaded_by: string;
  created_at: string;
  uploaded_at: string;
  view_url: string;
}

export interface EvidenceListAnswer {
  object: string;
  data: EvidenceAnswer[];
}

/** A PNG as far as anybody looks. */
export function png(size = 1000, fill = 7): Buffer {
  const bytes = Buffer.alloc(size, fill);
  Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1').copy(bytes);
  return bytes;
}

/** URLs of the service itself are on the port of the test; those of a store are as they are. */
export function reach({ url, runtime }: Pick<TestService, 'url' | 'runtime'>, signed: string): string {
  return signed.replace(runtime.resources.config.publicBaseUrl, url);
}

/** Step 1. */
export function requestUpload<T = TicketAnswer>(
  service: TestService,
  key: string,
  caseId: string,
  body: Record<string, unknown> = {},
): Promise<Answer<T>> {
  return service.call<T>('POST', `/v1/med/cases/${caseId}/evidence`, {
    key,
    body: { file_name: 'receipt.png', file_size: 1000, mime_type: 'image/png', ...body },
  });
}

/** Step 2. @returns the status and the body of the storage's answer */
export async function upload(
  service: Pick<TestService, 'url' | 'runtime'>,
  ticket: TicketAnswer,
  bytes: Buffer,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(reach(service, ticket.upload_url), {
    method: ticket.upload_method,
    // `fetch` sets Content-Length from the body, so it is not copied from the ticket.
    headers: { 'Content-Type': ticket.upload_headers['Content-Type'], ...headers },
    body: new Uint8Array(bytes),
  });
  return { status: response.status, text: await response.text() };
}

/** Step 3. */
export function complete<T = EvidenceAnswer>(
  service: TestService,
  key: string,
  caseId: string,
  id: string,
): Promise<Answer<T>> {
  return service.call<T>('POST', `/v1/med/cases/${caseId}/evidence/${id}/complete`, { key });
}

/** A file that is uploaded, and to be completed. @returns its id */
export async function anUpload(service: TestService, key: string, caseId: string): Promise<string> {
  const bytes = png();
  const { body: ticket } = await requestUpload(service, key, caseId, { file_size: bytes.length });
  const { status, text } = await upload(service, ticket, bytes);
  if (status !== 200) throw new Error(`The upload was answered ${status}: ${text}`);
  return ticket.id;
}

export async function listEvidence(service: TestService, key: string, caseId: string): Promise<EvidenceAnswer[]> {
  const { body } = await service.call<EvidenceListAnswer>('GET', `/v1/med/cases/${caseId}/evidence`, { key });
  return body.data;
}
