import { type ApiError, badRequest, business, conflict } from '../../core/errors/index.js';

/** Source: docs/contract.md#evidence. */
export function notUploaded(): ApiError {
  const message = 'The file has not reached the storage, or its URL has expired: request a new URL and upload again.';
  return conflict('EVIDENCE_NOT_UPLOADED', message);
}

export function sizeMismatch(stored: number, declared: number): ApiError {
  const message = `The stored file has ${stored} bytes, file_size says ${declared}.`;
  return conflict('EVIDENCE_SIZE_MISMATCH', message);
}

/** The contract's error for a type that is not accepted: the content decides, not its label. */
export function wrongContent(type: string): ApiError {
  return badRequest(
    'invalid_request',
    `The uploaded file is not ${type}; upload one that is, or request a new URL.`,
    'mime_type',
  );
}

export function overQuota(quota: number, used: number): ApiError {
  const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  return business(
    'evidence_quota_reached',
    `The account may have ${megabytes(quota)} of evidence in this mode and has ${megabytes(used)}, uploads under way included: delete files of open cases that are not needed, or ask the operator of the service for more.`,
  );
}

/** Refuses to delete a file that the bank may have looked at. */
export function inUse(status: string): ApiError {
  const message = `A file of a case that is ${status} cannot be deleted: it is part of the answer to the claim.`;
  return conflict('evidence_in_use', message);
}

export function tooMany(limit: number): ApiError {
  return business('evidence_limit_reached', `A case has at most ${limit} files, uploads under way included.`);
}
