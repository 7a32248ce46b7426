/**
 * - `unavailable`: nothing can have happened. The request never left (no connection, no TLS, no token), or it was turned
 *   away before anybody looked at it (401, 403, 429).
 * - `unknown`: it left and no answer came that can be trusted: a time-out, a broken connection, any 5xx (also a 503: a
 *   gateway says it of a request that it has already passed on), an answer that cannot be read.
 */
export type PixApiErrorKind = 'unavailable' | 'unknown';

/** Why a PSP gave no usable answer. Its texts name operations and codes only: never a URL, key, token or person. */
export class PixApiError extends Error {
  override readonly name = 'PixApiError';

  constructor(
    readonly kind: PixApiErrorKind,
    /** For example ECONNREFUSED, timeout, http_503, token_refused. Not called `code`, which errors of the database have. */
    readonly reason: string,
    operation: string,
  ) {
    super(`${operation}: ${reason} (${kind})`);
  }
}
