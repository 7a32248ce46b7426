/** Codes of Node, the resolver and undici, in words for merchants. */
const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the receiver closed the connection before it answered',
  ECONNABORTED: 'the receiver closed the connection before it answered',
  EPIPE: 'the receiver closed the connection before it answered',
  UND_ERR_SOCKET: 'the receiver closed the connection before it answered',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name could not be resolved',
  EHOSTUNREACH: 'the host cannot be reached',
  EHOSTDOWN: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ENETDOWN: 'the host cannot be reached',
  EADDRNOTAVAIL: 'the host cannot be reached',
  EACCES: 'the host cannot be reached',
  EPERM: 'the host cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is not valid HTTP',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  endless_answer: 'the receiver sent 128 KiB and no answer',
};

/**
 * Explains for `lastError` why no answer came. The error's own message may contain addresses of our network, so it is
 * not used. A forbidden address is named by its kind only. TLS problems keep their text, which is about the receiver's
 * certificate.
 * @param limits in milliseconds, for the texts about time
 */
export function failureText(error: unknown, limits: { connectMs: number; totalMs: number }): string {
  if (textOf(error, 'name') === 'TimeoutError') return `timed out after ${limits.totalMs / 1000} s`;
  // The error's code is often not set.
  if (textOf(error, 'name') === 'HTTPParserError') return 'the answer is not valid HTTP';
  const code = codeOf(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return `could not connect within ${limits.connectMs / 1000} s`;
  if (code === 'ERR_ADDRESS_NOT_ALLOWED') {
    return `the host's address is not allowed: ${textOf(error, 'addressClass')}`;
  }
  // Only the message of the HTTP client identifies this error.
  if (code === 'UND_ERR_SOCKET' && textOf(error, 'message') === 'bad upgrade') {
    return 'the receiver answered HTTP 101, which it was not asked for';
  }
  const known = TEXTS[code];
  if (known !== undefined) return known;
  if (isTls(code)) {
    // OpenSSL's short reason ("wrong version number") if there is one: its message contains source files.
    const detail = textOf(error, 'reason') || textOf(error, 'message');
    return `TLS: ${detail.slice(0, 200)}`;
  }
  return code === '' ? 'the request could not be sent' : `the request could not be sent (${code})`;
}

/** If a host has several addresses, one error contains all of theirs; other errors hide the reason in their cause. */
function codeOf(error: unknown): string {
  if (error === null || typeof error !== 'object') return '';
  const code = textOf(error, 'code');
  if (code !== '') return code;
  const { errors, cause } = error as { errors?: unknown; cause?: unknown };
  return textOf(Array.isArray(errors) ? errors[0] : cause, 'code');
}

function isTls(code: string): boolean {
  return /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_|ERROR_IN_|PATH_LENGTH_|HOSTNAME_MISMATCH$|EPROTO$)/.test(
    code,
  );
}

function textOf(value: unknown, key: string): string {
  const text = value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[key] : undefined;
  return typeof text === 'string' ? text : '';
}
