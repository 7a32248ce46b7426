import { setTimeout as delay } from 'node:timers/promises';
import { Agent, buildConnector } from 'undici';
import { boundAnswers } from '../../core/net/index.js';
import { MemoryRateLimiter } from '../../core/rate-limit/index.js';
import { withoutTrailingSlashes } from '../../core/text.js';
import type { PixApiConnection } from './connection.js';
import { secureContextOf, tokenKey } from './credentials.js';
import { exchange, ExchangeError, type HttpAnswer, type HttpMessage } from './exchange.js';
import { type CobRemoval, type CobRequest, type ReturnBody, tokenAnswer, type WebhookBody } from './messages.js';
import { isShallow } from './json-shape.js';
import { PixApiError } from './pix-api.errors.js';
import { namesOldToken, type Problem, readProblem } from './problem.js';
import type { DeskOperation, Operation, PspProfile, Template } from './profile.js';
import { type Token, TokenCache } from './token-cache.js';
import { fill, tokenRequest } from './token-request.js';

const CONNECT_MS = 5_000;
const ANSWER_MS = 15_000;
/** Limit of a whole call: waiting for the rate limit and a token, repetitions and their pauses included. */
const CALL_MS = 25_000;
const MAX_BYTES = 4 * 1024 * 1024;
/**
 * Limit of socket bytes for one answer: its body and headers, plus a quarter as much for the frames of small chunks.
 */
const MAX_SOCKET_BYTES = 1.25 * MAX_BYTES;
/** More values than a page of a thousand Pix with their returns has. */
const MAX_VALUES = 200_000;
const CONNECTIONS = 64;
/** Shorter than common gateways keep idle connections: a PUT on a connection that is just being closed is lost. */
const KEEP_ALIVE_MS = 4_000;
const ATTEMPTS = { GET: 4, PUT: 2, PATCH: 2, POST: 1 } as const;
const FIRST_PAUSE_MS = 200;
/** The token lacks a scope (RFC 6750). */
export const NOT_GRANTED = 'insufficient_scope';

/** The answer of a PSP. `refused`: the PSP understood and refused; this request had no effect. */
export type PspAnswer =
  | { readonly kind: 'ok'; readonly body: unknown }
  | { readonly kind: 'not_found'; readonly problem?: Problem }
  | { readonly kind: 'refused'; readonly status: number; readonly problem: Problem };

/** Options of `PixApiClient` for tests and the command line. */
export interface PixApiClientOptions {
  /** Shared by all clients of a process. */
  readonly tokens?: TokenCache;
  readonly limits?: { readonly connectMs?: number; readonly answerMs?: number; readonly callMs?: number };
  /** Called at the end of each call, for metrics. */
  readonly observe?: (
    operation: Operation | DeskOperation,
    outcome: PspAnswer['kind'] | PixApiError['kind'],
    seconds: number,
  ) => void;
}

const METHODS = {
  'cob.put': 'PUT',
  'cob.get': 'GET',
  'cob.patch': 'PATCH',
  'pix.get': 'GET',
  'pix.list': 'GET',
  'return.put': 'PUT',
  'return.get': 'GET',
  'webhook.put': 'PUT',
  'webhook.get': 'GET',
} as const satisfies Record<Operation, string>;

/** An attempt without an answer. */
interface Again {
  readonly again: PixApiError;
  /** The PSP refused the token, not the request. */
  readonly oldToken: boolean;
  /** The pause that the PSP asks for; null: none. */
  readonly pauseMs: number | null;
}

/** A call of a payout desk. The path is whole, because the profile's prefix is that of API Pix. */
export interface DeskCall {
  readonly operation: DeskOperation;
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Templates, as in a profile. */
  readonly headers?: Readonly<Record<string, Template>>;
  readonly body?: object;
}

interface Call {
  readonly operation: Operation | DeskOperation;
  readonly method: keyof typeof ATTEMPTS;
  /** The path behind the base URL; everything in it was checked or escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, Template>>;
  /** Called at each attempt; null: the request no longer makes sense. */
  readonly body?: (() => object | null) | undefined;
  readonly attempts: number;
}

/** A call of API Pix. */
interface PixCall extends Pick<Call, 'query' | 'body'> {
  readonly operation: Operation;
  /** The path behind the profile's prefix. */
  readonly path: string;
}

/**
 * Sends all requests to one PSP for one connection: mTLS, token, limits on rate, time and size, repetitions. The client
 * knows paths and statuses; the adapter interprets the answers.
 */
export class PixApiClient {
  readonly pixKey: string;
  readonly fees: PixApiConnection['fees'];
  readonly #agent: Agent;
  readonly #tokens: TokenCache;
  readonly #tokenKey: string;
  readonly #limiter = new MemoryRateLimiter();
  readonly #limits: { connectMs: number; answerMs: number; callMs: number };
  readonly #baseUrl: string;
  readonly #tokenUrl: string;

  /** @throws Error when neither profile nor connection names a URL, or the certificate cannot be read */
  constructor(
    private readonly connection: PixApiConnection,
    readonly profile: PspProfile,
    private readonly options: PixApiClientOptions = {},
  ) {
    this.pixKey = connection.pixKey;
    this.fees = connection.fees;
    this.#limits = { connectMs: CONNECT_MS, answerMs: ANSWER_MS, callMs: CALL_MS, ...options.limits };
    this.#tokens = options.tokens ?? new TokenCache();
    this.#tokenKey = tokenKey(connection, profile);
    this.#baseUrl = urlOf('base URL', connection.baseUrl ?? profile.baseUrl.production.value);
    this.#tokenUrl = urlOf('token URL', connection.tokenUrl ?? profile.tokenUrl.production.value);
    const secureContext = secureContextOf(connection.credentials);
    const connect = buildConnector({ secureContext, timeout: this.#limits.connectMs });
    this.#agent = new Agent({
      connect: boundAnswers(connect, MAX_SOCKET_BYTES),
      connections: CONNECTIONS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    });
  }

  /**
   * @param body called at each attempt, because the time for paying runs; null: that time is over, and nothing is sent
   */
  putCob(txid: string, body: () => CobRequest | null): Promise<PspAnswer> {
    return this.#pixCall({ operation: 'cob.put', path: `/cob/${txid}`, body });
  }

  getCob(txid: string): Promise<PspAnswer> {
    return this.#pixCall({ operation: 'cob.get', path: `/cob/${txid}` });
  }

  patchCob(txid: string, body: CobRemoval): Promise<PspAnswer> {
    return this.#pixCall({ operation: 'cob.patch', path: `/cob/${txid}`, body: () => body });
  }

  getPix(endToEndId: string): Promise<PspAnswer> {
    return this.#pixCall({ operation: 'pix.get', path: `/pix/${endToEndId}` });
  }

  listPix(query: Readonly<Record<string, string>>): Promise<PspAnswer> {
    return this.#pixCall({ operation: 'pix.list', path: '/pix', query });
  }

  putReturn(endToEndId: string, returnId: string, body: ReturnBody): Promise<PspAnswer> {
    return this.#pixCall({
      operation: 'return.put',
      path: `/pix/${endToEndId}/devolucao/${returnId}`,
      body: () => body,
    });
  }

  getReturn(endToEndId: string, returnId: string): Promise<PspAnswer> {
    return this.#pixCall({ operation: 'return.get', path: `/pix/${endToEndId}/devolucao/${returnId}` });
  }

  /** Makes the PSP call `url` about Pix to the key; replaces the registered URL. */
  registerWebhook(url: string): Promise<PspAnswer> {
    const body: WebhookBody = { webhookUrl: url };
    return this.#pixCall({ operation: 'webhook.put', path: this.#webhookPath(), body: () => body });
  }

  /** The URL that is registered for the key. */
  webhook(): Promise<PspAnswer> {
    return this.#pixCall({ operation: 'webhook.get', path: this.#webhookPath() });
  }

  /** The token that calls use, for the doctor. @throws PixApiError */
  token(): Promise<Token> {
    return this.#token(Date.now() + this.#limits.callMs, null);
  }

  /** Closes the client once running calls have ended. */
  async close(): Promise<void> {
    await this.#agent.close();
  }

  #webhookPath(): string {
    const escaped = encodeURIComponent(this.pixKey);
    const isPlain = this.profile.phoneInPath.value === 'plain';
    return `/webhook/${isPlain ? escaped.replace(/^%2B/, '+') : escaped}`;
  }

  /**
   * Calls the PSP for a payout desk. A send is made once: each one may cost a look-up of a key, and the desk's caller
   * repeats it.
   * @throws PixApiError
   */
  callDesk({ operation, method, path, query = {}, headers = {}, body }: DeskCall): Promise<PspAnswer> {
    const attempts = operation === 'payout.send' ? 1 : ATTEMPTS[method];
    const own = { ...this.profile.headers.value, ...headers };
    return this.#call({ operation, method, path, query, headers: own, body: body && (() => body), attempts });
  }

  /** @throws PixApiError */
  #pixCall({ operation, path, query = {}, body }: PixCall): Promise<PspAnswer> {
    const method = METHODS[operation];
    const { prefix, headers, webhookHeaders } = this.profile;
    return this.#call({
      operation,
      method,
      path: `${prefix.value.only[operation] ?? prefix.value.all}${path}`,
      query,
      headers: operation === 'webhook.put' ? { ...headers.value, ...webhookHeaders.value } : headers.value,
      body,
      attempts: ATTEMPTS[method],
    });
  }

  /** @throws PixApiError */
  async #call(call: Call): Promise<PspAnswer> {
    const started = performance.now();
    const observe = (outcome: PspAnswer['kind'] | PixApiError['kind']): void =>
      this.options.observe?.(call.operation, outcome, (performance.now() - started) / 1000);
    try {
      const answer = await this.#attempts(call, Date.now() + this.#limits.callMs);
      observe(answer.kind);
      return answer;
    } catch (error) {
      observe(error instanceof PixApiError ? error.kind : 'unknown');
      throw error;
    }
  }

  /**
   * Repeats a GET after any failure, and a write only when nothing can have happened. If a write may have happened, the
   * caller decides, because it can query.
   */
  async #attempts(call: Call, deadline: number): Promise<PspAnswer> {
    const { method, attempts } = call;
    let rejected: string | null = null;
    for (let attempt = 1; ; attempt += 1) {
      await this.#takeTurn(call.operation, deadline);
      const token: Token = await this.#token(deadline, rejected);
      const outcome = await this.#once(call, token.value, deadline);
      if (!('again' in outcome)) return outcome;
      const { again, oldToken, pauseMs } = outcome;
      if (oldToken && rejected === null) {
        // Repeated once with a new token: the old one may have been withdrawn before its time.
        rejected = token.value;
        continue;
      }
      const isFinal = oldToken || again.reason === 'http_403' || again.reason === NOT_GRANTED;
      const mayRepeat = !isFinal && attempt < attempts && (method === 'GET' || again.kind === 'unavailable');
      const pause = pauseMs ?? FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.75 + Math.random() / 2);
      if (!mayRepeat || Date.now() + pause >= deadline) throw again;
      await delay(pause);
    }
  }

  async #once(
    { operation, method, path, query, headers, body }: Call,
    token: string,
    deadline: number,
  ): Promise<PspAnswer | Again> {
    const { errors } = this.profile;
    const { credentials } = this.connection;
    const url = new URL(`${this.#baseUrl}${path}`);
    for (const [name, value] of Object.entries({ ...query, ...fill(this.profile.query.value, credentials) })) {
      url.searchParams.set(name, value);
    }
    const content = body?.();
    if (content === null) throw new PixApiError('unavailable', 'too_late', operation);
    let answer: HttpAnswer;
    try {
      answer = await this.#exchange(url, deadline, {
        method,
        headers: {
          ...fill(headers, credentials),
          authorization: `Bearer ${token}`,
          accept: 'application/json, application/problem+json',
          ...(content ? { 'content-type': 'application/json' } : {}),
        },
        body: content ? JSON.stringify(content) : null,
      });
    } catch (error) {
      return { again: failure(error, operation), oldToken: false, pauseMs: null };
    }
    const { status } = answer;
    const json = parse(answer.body);
    // A body that is not JSON is passed on as text, which no schema accepts.
    if (status >= 200 && status < 300) return { kind: 'ok', body: json === undefined ? answer.body || null : json };
    const pauseMs = retryAfterMs(answer.retryAfter);
    const problem = readProblem(errors.value, status, json);
    const isAboutToken = /invalid_token/i.test(answer.challenge ?? '') || namesOldToken(problem);
    const oldToken = status === 401 || ((status === 400 || status === 403) && isAboutToken);
    if (oldToken || status === 403 || status === 429) {
      const reason = problem.code === NOT_GRANTED ? NOT_GRANTED : `http_${status}`;
      return { again: new PixApiError('unavailable', reason, operation, pauseMs), oldToken, pauseMs };
    }
    // A refusal is the PSP's own only in its format: a gateway's HTML says nothing about a charge.
    const isRefusal = status >= 400 && status < 500 && status !== 408 && (json !== undefined || answer.body === '');
    if (!isRefusal) {
      return { again: new PixApiError('unknown', `http_${status}`, operation), oldToken, pauseMs };
    }
    return status === 404 ? { kind: 'not_found', problem } : { kind: 'refused', status, problem };
  }

  /** @throws ExchangeError */
  #exchange(url: URL, deadline: number, request: HttpMessage): Promise<HttpAnswer> {
    const left = Math.max(deadline - Date.now(), 1);
    const limits = { answerMs: Math.min(this.#limits.answerMs, left), totalMs: left, maxBytes: MAX_BYTES };
    return exchange(this.#agent, { ...request, origin: url.origin, path: `${url.pathname}${url.search}` }, limits);
  }

  /** Waits until the PSP's rate limit allows one more request. */
  async #takeTurn(operation: string, deadline: number): Promise<void> {
    const limit = this.profile.rateLimit.value;
    if (limit === null) return;
    for (;;) {
      if (this.#limiter.take('psp', limit).allowed) return;
      const pause = Math.max(1000 / limit.rate, 1);
      if (Date.now() + pause >= deadline) throw new PixApiError('unavailable', 'rate_limit', operation);
      await delay(pause);
    }
  }

  #token(deadline: number, rejected: string | null): Promise<Token> {
    return this.#tokens.get(this.#tokenKey, () => this.#fetchToken(deadline), rejected);
  }

  /** Fetches a token. A failure here has no side effects. */
  async #fetchToken(deadline: number): Promise<Token> {
    const started = Date.now();
    const { url, request } = tokenRequest(this.#tokenUrl, this.profile.token.value, this.connection.credentials);
    for (let attempt = 1; ; attempt += 1) {
      let code: string;
      try {
        const { status, body } = await this.#exchange(url, deadline, request);
        const read = status >= 200 && status < 300 ? tokenAnswer.safeParse(parse(body)) : null;
        if (read?.success) {
          const { access_token: value, expires_in: seconds, scope } = read.data;
          return { value, scope, expiresAt: started + seconds * 1000 };
        }
        code = read ? 'token_malformed' : `token_http_${status}`;
        if (status < 500 && status !== 429) throw new PixApiError('unavailable', code, 'token');
      } catch (error) {
        if (error instanceof PixApiError) throw error;
        code = error instanceof ExchangeError ? `token_${error.code}` : 'token_failed';
      }
      const pause = FIRST_PAUSE_MS * attempt;
      if (attempt >= 2 || Date.now() + pause >= deadline) throw new PixApiError('unavailable', code, 'token');
      await delay(pause);
    }
  }
}

function failure(error: unknown, operation: string): PixApiError {
  if (!(error instanceof ExchangeError)) return new PixApiError('unknown', 'failed', operation);
  return new PixApiError(error.sent ? 'unknown' : 'unavailable', error.code, operation);
}

/** @throws Error */
function urlOf(what: string, text: string | null): string {
  if (text === null) throw new Error(`the connection needs a ${what}: its profile names none`);
  if (!URL.canParse(text)) throw new Error(`the connection's ${what} is no URL`);
  return withoutTrailingSlashes(text);
}

/** @returns undefined for a text that is not JSON, or is too large */
function parse(body: string): unknown {
  try {
    return isShallow(body, MAX_VALUES) ? (JSON.parse(body.replace(/^\ufeff/, '')) as unknown) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads Retry-After: seconds or a date. */
function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  const ms = /^[0-9]{1,6}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(ms, 0);
}
