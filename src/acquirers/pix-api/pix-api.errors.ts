/**
 * Whether the request may have had an effect.
 * - `unavailable`: nothing can have happened. The request was never sent (no connection, no TLS, no token), or was
 * turned away unread (401, 403, 429).
 * - `unknown`: the request was sent, and no trustworthy answer came. Examples: a time-out, a broken connection, an
 * unreadable answer, any 5xx. A 503 counts too: a gateway answers so even after passing the request on.
 */
export type PixApiErrorKind = 'unavailable' | 'unknown';

/** Why a PSP gave no usable answer. The texts name operations and codes only: never a URL, key, token or person. */
export class PixApiError extends Error {
  override readonly name = 'PixApiError';

  constructor(
    readonly kind: PixApiErrorKind,
    /**
     * For example ECONNREFUSED, timeout, http_503, token_refused. Not named `code`, as errors of the database have one.
     */
    readonly reason: string,
    operation: string,
    /** The pause that the PSP asks for; null: none. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(`${operation}: ${reason} (${kind})`);
  }
}
