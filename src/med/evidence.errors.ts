import { ApiError, badRequest, business } from '../core/errors/index.js';

/** Source: docs/contract.md#evidence. */
export function notUploaded(): ApiError {
  const message = 'The file has not reached the storage, or its URL has expired: request a new URL and upload again.';
  return new ApiError(409, 'conflict_error', 'EVIDENCE_NOT_UPLOADED', message);
}

export function sizeMismatch(stored: number, declared: number): ApiError {
  const message = `The stored file has ${stored} bytes, file_size says ${declared}.`;
  return new ApiError(409, 'conflict_error', 'EVIDENCE_SIZE_MISMATCH', message);
}

/** What the contract says of a type that is not accepted: the content decides, not its label. */
export function wrongContent(type: string): ApiError {
  return badRequest(
    'invalid_request',
    `The uploaded file is not ${type}; upload one that is, or request a new URL.`,
    'mime_type',
  );
}

export function tooMany(limit: number): ApiError {
  return business('evidence_limit_reached', `A case has at most ${limit} files, uploads under way included.`);
}
