import { type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { ApiError, type CommonErrors } from './api-error.js';
import { type Answer, type Route } from './api.js';
import { CA_CERTIFICATE, SERVER } from './certificates.js';
import { EFI_COMMON_ERRORS, EfiError } from './efi-errors.js';
import { type Faults, type Operation, type RequestFault } from './faults.js';
import { close, listen, readText, send } from './http.js';
import { COMMON_PROBLEMS, Problem } from './problems.js';
import { type Timers } from './timers.js';
import { type Tokens } from './tokens.js';

export const API_PATH = '/api/v2';
/** Paths under which the standard's operations are: a PSP chooses its own, and `/v2` is Efí's. */
const STANDARD_PATHS = [API_PATH, '/v2'] as const;
export const TOKEN_PATH = '/oauth/token';

/** A request of API Pix and its answer, for checks against the standard. */
export interface Exchange {
  readonly method: string;
  /** Path below the base URL, as `/cob/…`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The received body; empty: none. */
  readonly requestBody: string;
  readonly status: number;
  /** The sent body; null: none. */
  readonly responseBody: unknown;
}

interface Received {
  readonly operation: Operation;
  /** Null for the token endpoint. */
  readonly route: Route | null;
  readonly errors: CommonErrors;
  /** The path below the base URL; null: no operation of the standard. */
  readonly standardPath: string | null;
  readonly params: readonly [string, string];
  readonly url: URL;
  readonly text: string;
  readonly request: IncomingMessage;
}

/** The PSP's public side: TLS with client certificates, token endpoint and API, and the faults of both. */
export class ApiServer {
  readonly #server = createServer(
    { ...SERVER, ca: CA_CERTIFICATE, requestCert: true, rejectUnauthorized: true },
    (request, response) => void this.#serve(request, response).catch(() => request.socket.destroy()),
  );
  readonly #requests = new Map<Operation, number>();
  #connections = 0;

  constructor(
    private readonly standardRoutes: readonly Route[],
    private readonly efiRoutes: readonly Route[],
    private readonly tokens: Tokens,
    private readonly faults: Faults,
    private readonly settings: { readonly latencyMs: number },
    private readonly timers: Timers,
    private readonly observe: (exchange: Exchange) => void,
  ) {
    this.#server.on('secureConnection', () => {
      this.#connections += 1;
    });
  }

  /** Number of connections ever made, and requests by operation. */
  get traffic(): { connections: number; requests: Readonly<Partial<Record<Operation, number>>> } {
    return { connections: this.#connections, requests: Object.fromEntries(this.#requests) };
  }

  start(port: number): Promise<number> {
    return listen(this.#server, port);
  }

  stop(): Promise<void> {
    return close(this.#server);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request);
    const url = new URL(request.url ?? '/', 'https://localhost');
    const found = this.#find(request.method, url.pathname);
    if (!found) {
      answer(response, Problem.of('NaoEncontrado').answer);
      return;
    }
    const { operation, standardPath } = found;
    this.#requests.set(operation, (this.#requests.get(operation) ?? 0) + 1);
    const received = { ...found, url, text, request };
    const result = await this.#faulty(received);
    if (result === 'silence') return;
    if (result === 'reset') {
      request.socket.destroy();
      return;
    }
    if (standardPath !== null) this.observe(exchangeOf(received, standardPath, result));
    answer(response, result);
  }

  async #faulty(received: Received): Promise<Answer | 'silence' | 'reset'> {
    const fault = this.faults.ofRequest(received.operation);
    const latency = this.settings.latencyMs + (fault?.kind === 'latency' ? fault.ms : 0);
    if (latency > 0) await this.timers.wait(latency);
    switch (fault?.kind) {
      case 'timeout':
        if (fault.effect) this.#work(received);
        return fault.ending;
      case 'error':
        if (fault.effect) this.#work(received);
        return received.errors.internal().answer;
      case 'throttle':
        return received.errors.throttled(fault.retryAfterSeconds).answer;
      case 'unavailable':
        return received.errors.unavailable().answer;
      case 'refuse':
        if (fault.effect) this.#work(received);
        return EfiError.of(fault.error).answer;
      case 'answer':
        return deviating(this.#work(received), fault);
      case 'tokenExpiry':
        this.tokens.expireAll();
        return this.#work(received);
      case 'latency':
      case undefined:
        return this.#work(received);
    }
  }

  #work({ route, errors, params, request, url, text }: Received): Answer {
    const { authorization } = request.headers;
    if (!route) return this.tokens.grant(authorization, request.headers['content-type'], text);
    try {
      const grant = this.tokens.check(authorization);
      if (!grant) throw errors.unauthorized();
      if (!grant.scopes.includes(route.scope)) throw errors.forbidden();
      const { merchant } = grant;
      return route.run({ merchant, params, query: url.searchParams, body: () => parse(text, errors) });
    } catch (error) {
      if (error instanceof ApiError) return error.answer;
      throw error;
    }
  }

  #find(method: string | undefined, pathname: string): Found | null {
    if (method === 'POST' && pathname === TOKEN_PATH) {
      return { operation: 'token', route: null, errors: COMMON_PROBLEMS, standardPath: null, params: ['', ''] };
    }
    const own = match(this.efiRoutes, method, pathname);
    if (own) return { ...own, errors: own.route?.errors ?? EFI_COMMON_ERRORS, standardPath: null };
    const base = STANDARD_PATHS.find((path) => pathname.startsWith(`${path}/`));
    if (base === undefined) return null;
    const standardPath = pathname.slice(base.length);
    const standard = match(this.standardRoutes, method, standardPath);
    return standard && { ...standard, errors: COMMON_PROBLEMS, standardPath };
  }
}

type Found = Omit<Received, 'url' | 'text' | 'request'>;

function match(
  routes: readonly Route[],
  method: string | undefined,
  path: string,
): Pick<Received, 'operation' | 'route' | 'params'> | null {
  for (const route of routes) {
    const found = route.method === method ? route.path.exec(path) : null;
    if (!found) continue;
    const [first, second] = [decoded(found[1]), decoded(found[2])];
    return first === null || second === null ? null : { operation: route.operation, route, params: [first, second] };
  }
  return null;
}

function answer(response: ServerResponse, result: Answer): void {
  const usual = result.status < 400 ? 'application/json' : 'application/problem+json';
  send(response, result, result.contentType ?? usual);
}

function deviating(right: Answer, { status, fields, entries }: Extract<RequestFault, { kind: 'answer' }>): Answer {
  const { pix, ...rest } = { ...right.body } as Record<string, unknown>;
  const listed = Array.isArray(pix) ? { pix: pix.map((entry: object) => ({ ...entry, ...entries })) } : {};
  return { ...right, status: status ?? right.status, body: fields && { ...rest, ...listed, ...fields } };
}

/** @throws ApiError for a text that is not JSON */
function parse(text: string, errors: CommonErrors): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw errors.unreadable();
  }
}

/** Decodes a path segment; null for a broken escape. */
function decoded(segment = ''): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

function exchangeOf({ request, url, text }: Received, path: string, result: Answer): Exchange {
  return {
    method: request.method ?? '',
    path,
    query: Object.fromEntries(url.searchParams),
    requestBody: text,
    status: result.status,
    responseBody: result.body,
  };
}
