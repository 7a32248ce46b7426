/** Codes of Node, the resolver and undici, as a merchant understands them. */
const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the receiver closed the connection before it answered',
  EPIPE: 'the receiver closed the connection before it answered',
  UND_ERR_SOCKET: 'the receiver closed the connection before it answered',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name could not be resolved',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
};

/**
 * Why no answer came, in words for `lastError`. Never the error's own message, which may tell addresses of our network;
 * TLS problems excepted, whose text is about the receiver's certificate.
 * @param limits in milliseconds, for the texts about time
 */
export function failureText(error: unknown, limits: { connectMs: number; totalMs: number }): string {
  if (textOf(error, 'name') === 'TimeoutError') return `timed out after ${limits.totalMs / 1000} s`;
  // Its code is often not set.
  if (textOf(error, 'name') === 'HTTPParserError') return 'the answer is not valid HTTP';
  const code = codeOf(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `could not connect within ${limits.connectMs / 1000} s`;
  const known = TEXTS[code];
  if (known !== undefined) return known;
  if (isTls(code)) {
    // OpenSSL's short reason ("wrong version number") where there is one: its message has source files in it.
    const detail = textOf(error, 'reason') || textOf(error, 'message');
    return `TLS: ${detail.slice(0, 200)}`;
  }
  return code === '' ? 'the request could not be sent' : `the request could not be sent (${code})`;
}

/** A host with several addresses fails with all their errors in one; others hide the reason in their cause. */
function codeOf(error: unknown): string {
  if (error === null || typeof error !== 'object') return '';
  const code = textOf(error, 'code');
  if (code !== '') return code;
  const { errors, cause } = error as { errors?: unknown; cause?: unknown };
  return textOf(Array.isArray(errors) ? errors[0] : cause, 'code');
}

function isTls(code: string): boolean {
  return /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH$|EPROTO$)/.test(code);
}

function textOf(value: unknown, key: string): string {
  const text = value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[key] : undefined;
  return typeof text === 'string' ? text : '';
}
