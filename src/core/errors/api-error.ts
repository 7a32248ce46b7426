export const ERROR_TYPES = [
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'fraud_error',
  'not_found_error',
  'idempotency_error',
  'conflict_error',
  'business_error',
  'rate_limit_error',
  'provider_error',
  'api_error',
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

export interface Violation {
  /** Path of the field, as in `customer.document`. */
  param: string;
  code: string;
  message: string;
}

/** An answer the caller is meant to see (docs/contract.md#errors). Anything else that is thrown becomes `internal_error`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly param?: string;
  readonly details?: Violation[];
  readonly headers: Record<string, string>;

  constructor(
    readonly status: number,
    readonly type: ErrorType,
    readonly code: string,
    message: string,
    extra: { param?: string; details?: Violation[]; headers?: Record<string, string> } = {},
  ) {
    super(message);
    if (extra.param !== undefined) this.param = extra.param;
    if (extra.details !== undefined) this.details = extra.details;
    this.headers = extra.headers ?? {};
  }

  /** Returns the error body without the request id, which the HTTP layer adds. */
  body(): Record<string, unknown> {
    return {
      type: this.type,
      code: this.code,
      message: this.message,
      ...(this.param === undefined ? {} : { param: this.param }),
      ...(this.details === undefined ? {} : { details: this.details }),
    };
  }
}

/** Named in one answer: a body can have thousands, and an answer many times its size. */
export const MAX_DETAILS = 50;

/** 400 with every violation of the request at once, as far as one answer names them. @param unnamed how many more */
export function invalidRequest(violations: readonly Violation[], unnamed = 0): ApiError {
  const [first] = violations;
  const details = violations.slice(0, MAX_DETAILS);
  const total = violations.length + unnamed;
  const listed =
    total === details.length
      ? `${total} problems; see error.details`
      : `at least ${total} problems; error.details names ${details.length} of them`;
  const message = total === 1 && first ? `${first.param}: ${first.message}` : `The request has ${listed}.`;
  return new ApiError(400, 'invalid_request_error', 'invalid_request', message, {
    ...(first ? { param: first.param } : {}),
    details,
  });
}

export function badRequest(code: string, message: string, param?: string): ApiError {
  return new ApiError(400, 'invalid_request_error', code, message, param === undefined ? {} : { param });
}

/** An error for logs alone, with the status that proxies use for it: nobody is there to read it. */
export function hungUp(): ApiError {
  const message = 'The caller hung up before the answer was made.';
  return new ApiError(499, 'invalid_request_error', 'client_closed_request', message);
}

export function notFound(what = 'resource'): ApiError {
  return new ApiError(404, 'not_found_error', 'not_found', `No such ${what}.`);
}

/** @param near the route that was meant, as `GET /v1/payments`; null: nobody knows */
export function noSuchRoute(near: string | null): ApiError {
  const hint = near === null ? '' : ` Did you mean ${near}?`;
  return new ApiError(404, 'not_found_error', 'not_found', `No such route.${hint}`);
}

/** @param needed what the route asks for */
export function unauthorized(needed: 'api-key' | 'dashboard' = 'api-key'): ApiError {
  const message =
    needed === 'api-key'
      ? 'Send a valid API key in the `apikey` header (it starts with ak_test_ or ak_live_).'
      : 'Send a valid token of POST /v1/auth/login as `Authorization: Bearer <token>`; API keys are not accepted here.';
  return new ApiError(401, 'authentication_error', 'unauthorized', message);
}

export function forbidden(message: string, code = 'forbidden'): ApiError {
  return new ApiError(403, 'permission_error', code, message);
}

export function conflict(code: string, message: string): ApiError {
  return new ApiError(409, 'conflict_error', code, message);
}

export function business(code: string, message: string): ApiError {
  return new ApiError(422, 'business_error', code, message);
}

export function serviceUnavailable(message = 'The service is not available right now; retry with backoff.'): ApiError {
  return new ApiError(503, 'api_error', 'service_unavailable', message, { headers: { 'Retry-After': '1' } });
}

/** The acquirer's part; of our own parts (database, queue, storage) it is `serviceUnavailable`. */
export function providerUnavailable(message = 'The acquirer did not answer; retry with backoff.'): ApiError {
  return new ApiError(503, 'provider_error', 'provider_unavailable', message, { headers: { 'Retry-After': '2' } });
}
