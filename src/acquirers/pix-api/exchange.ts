import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** A request without its address. */
export interface HttpMessage {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface HttpRequest extends HttpMessage {
  readonly origin: string;
  /** The path with its query. */
  readonly path: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** The header in which a server names the fault of a token (RFC 6750). */
  readonly challenge: string | null;
  readonly body: string;
}

export interface ExchangeLimits {
  /** The time from the request's first byte to the answer's last one. */
  readonly answerMs: number;
  /** The time from the call to the answer's last byte, including the wait for a connection. */
  readonly totalMs: number;
  readonly maxBytes: number;
}

/** No complete answer arrived. */
export class ExchangeError extends Error {
  constructor(
    readonly code: string,
    /** Whether the other side may have read the request. */
    readonly sent: boolean,
  ) {
    super(code);
  }
}

/**
 * Sends a request on undici's lowest level: only there we learn whether a failed request was ever sent.
 * @throws ExchangeError
 */
export function exchange(agent: Dispatcher, request: HttpRequest, limits: ExchangeLimits): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const handler = new Exchange(limits, resolve, reject);
    try {
      agent.dispatch({ ...request, headersTimeout: 0, bodyTimeout: 0 }, handler);
    } catch (error) {
      handler.onResponseError(null, error);
    }
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = [];
  readonly #total: NodeJS.Timeout;
  #answer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | null = null;
  #stopped: ExchangeError | null = null;
  #status = 0;
  #retryAfter: string | null = null;
  #challenge: string | null = null;
  #size = 0;

  constructor(
    private readonly limits: ExchangeLimits,
    private readonly resolve: (answer: HttpAnswer) => void,
    private readonly reject: (error: ExchangeError) => void,
  ) {
    this.#total = setTimeout(() => this.#stop('timeout'), limits.totalMs);
  }

  /** Nothing is written to the connection yet: aborting here still means that nothing was sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#stopped) return controller.abort(this.#stopped);
    this.#controller = controller;
    this.#answer = setTimeout(() => this.#stop('timeout'), this.limits.answerMs);
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    const textOf = (value: string | string[] | undefined): string | null => (typeof value === 'string' ? value : null);
    this.#status = status;
    this.#retryAfter = textOf(headers['retry-after']);
    this.#challenge = textOf(headers['www-authenticate']);
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.limits.maxBytes) this.#stop('answer_too_large');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#clear();
    this.resolve({
      status: this.#status,
      retryAfter: this.#retryAfter,
      challenge: this.#challenge,
      body: Buffer.concat(this.#chunks).toString(),
    });
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.#clear();
    this.reject(this.#stopped ?? new ExchangeError(codeOf(error), this.#controller !== null));
  }

  #stop(code: string): void {
    this.#clear();
    this.#stopped ??= new ExchangeError(code, this.#controller !== null);
    this.#controller?.abort(this.#stopped);
    this.reject(this.#stopped);
  }

  #clear(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#answer);
  }
}

/** A code such as ECONNREFUSED or CERT_HAS_EXPIRED; never a message, which may quote the request. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[A-Z0-9_]{1,80}$/i.test(code) ? code : 'connection_failed';
}
