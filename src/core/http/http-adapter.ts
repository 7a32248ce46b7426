import { createServer, IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { parse } from 'node:querystring';
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { API_VERSION } from '../api-version.js';
import type { Config } from '../config/index.js';
import type { Drain } from '../drain.js';
import { badRequest, hungUp, notFound } from '../errors/index.js';
import type { Logger } from '../log/index.js';
import type { Metrics } from '../metrics/index.js';
import { bareAddress } from '../net/index.js';
import { uniqueBytes } from '../random.js';
import { browserHeaders } from './browser-headers.js';
import { Connections } from './connections.js';
import { sendError, toApiError } from './error.filter.js';
import { enterDoor, routeOf } from './request.js';

/** Event of a response: emitted with the size of the body, also when the client hung up. */
export const ANSWERED = 'answered';

const REQUEST_ID = /^[A-Za-z0-9_-]{8,128}$/;
/** Limit above the length of any id of ours. */
const MAX_SEGMENT_LENGTH = 200;

function requestId(given?: string | string[]): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : `req_${uniqueBytes(16).toString('hex')}`;
}

/**
 * Returns whether a route may have this address. No route matches an address that cannot be decoded or has a segment
 * longer than an id.
 */
function isAddress(url: string): boolean {
  const path = url.split('?', 1)[0] ?? '';
  if (!path.startsWith('/')) return false;
  if (path.length <= MAX_SEGMENT_LENGTH && !path.includes('%')) return true;
  try {
    return decodeURIComponent(path) !== '' && path.split('/').every((segment) => segment.length <= MAX_SEGMENT_LENGTH);
  } catch {
    return false;
  }
}

/** Answers a request that Node's parser could not read, in the envelope of all errors. */
function answerUnreadable(error: Error & { code?: string }, socket: Socket, logger: Logger): void {
  const tooLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  // A browser opens connections ahead of its requests, and would take an answer here for that of its next request.
  const wasUnasked = tooLate && socket.bytesRead === 0;
  if (error.code === 'ECONNRESET' || !socket.writable || wasUnasked) {
    socket.destroy();
    return;
  }
  const id = requestId();
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const [status, message] = tooLarge
    ? [431, 'The headers are too large.']
    : tooLate
      ? [408, 'The request did not come within the time for it.']
      : [400, 'This is not an HTTP request.'];
  const body = JSON.stringify({
    error: { type: 'invalid_request_error', code: 'invalid_request', message },
    request_id: id,
  });
  logger.info({ requestId: id, route: 'unknown', status }, 'request');
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${id}\r\nX-Api-Version: ${API_VERSION}\r\n\r\n${body}`,
  );
}

const METADATA_KEY = /^metadata\[(.+)\]$/s;

/** Largest number of parameters in a query: more than any route reads, yet cheap to parse. */
const MAX_PARAMETERS = 64;

function parametersOf(url: string): number {
  const at = url.indexOf('?');
  return at === -1 ? 0 : url.slice(at).split('&', MAX_PARAMETERS + 1).length;
}

/** Parses a query; `metadata[order]=1` becomes `{metadata: {order: '1'}}`. */
function parseQuery(url: string): object {
  const at = url.indexOf('?');
  if (at === -1) return {};
  // Parse all keys: an unread key would be an unknown field that is not refused.
  const query = parse(url.slice(at + 1), '&', '=', { maxKeys: 0 });
  const names = new Set(Object.keys(query).filter((name) => METADATA_KEY.test(name)));
  if (names.size === 0 || 'metadata' in query) return query;
  const metadata = Object.fromEntries([...names].map((name) => [METADATA_KEY.exec(name)?.[1] ?? '', query[name]]));
  return { ...Object.fromEntries(Object.entries(query).filter(([name]) => !names.has(name))), metadata };
}

/** Time for which a connection with a request under way may be silent. */
const SILENCE_MS = 60_000;
/** Time after a hang-up in which the request's work has ended, and the interval at which its end is checked. */
const GONE_MS = 60_000;
const LOOK_MS = 200;
/** Time for the last answers of a process that ends: a slow caller must not hold the process until it is killed. */
const LAST_ANSWERS_MS = 30_000;

/**
 * The HTTP server under NestJS. Every request needs an id, a log line and metrics. Guards and interceptors never see
 * unknown routes or malformed addresses, so this is done here, around Express.
 */
export class HttpAdapter extends ExpressAdapter {
  #isClosing = false;
  #onResponse: (request: Request, response: Response) => void = () => undefined;
  readonly #browserHeaders: RequestHandler;
  readonly #connections: Connections;
  #end: Promise<void> | null = null;

  constructor(
    private readonly config: Config,
    private readonly requestLogger: Logger,
    private readonly metrics: Metrics,
    private readonly drain: Drain,
  ) {
    const app = express();
    app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
    app.set('trust proxy', config.trustProxies.length > 0 && [...config.trustProxies]);
    // A trusted proxy may also have a port behind its address.
    const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
    // If a connection was reset before it was accepted, it has no address.
    const isTrusted = (address: string | undefined, hop: number): boolean => trusts(bareAddress(address ?? ''), hop);
    app.set('trust proxy', isTrusted);
    super(app);
    this.#connections = new Connections(config.maxConnections, (address) => isTrusted(address, 0));
    drain.signal.addEventListener('abort', () => this.#connections.keepNoneAlive(), { once: true });
    this.#browserHeaders = browserHeaders(config);
    app.use(this.#browserHeaders);
  }

  override initHttpServer(): void {
    const app = this.getInstance<express.Express>();
    // Express replaces the prototype of each request and response, which slows every later use. Here they are created
    // with the right prototype.
    class ExpressRequest extends IncomingMessage {}
    class ExpressResponse extends ServerResponse {}
    app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request) as Request;
    app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response) as Response;
    // Express parses it at each access.
    Object.defineProperty(ExpressRequest.prototype, 'query', {
      get(this: Request): object {
        const value = parseQuery(this.url);
        Object.defineProperty(this, 'query', { value, writable: true, configurable: true });
        return value;
      },
    });
    const server = createServer(
      {
        IncomingMessage: ExpressRequest,
        ServerResponse: ExpressResponse,
        // Longer than the keep-alive of common proxies, which would otherwise reuse a connection we just closed.
        keepAliveTimeout: 72_000,
        // Limit for a whole request: a file over a phone's uplink takes minutes. Other bodies have less time, see
        // `readBytes`, and headers come with the first packets.
        requestTimeout: 300_000,
        headersTimeout: 10_000,
        connectionsCheckingInterval: 5_000,
        // A missing Host is refused below, in the envelope of all errors.
        requireHostHeader: false,
      },
      (request, response) => this.#receive(request as Request, response as Response),
    );
    // With a limit, Node.js drops further headers silently, perhaps a second Idempotency-Key or apikey. The size of
    // headers has its own limit.
    server.maxHeadersCount = 0;
    // Limit for a client that reads no answer, or a handler that makes none: longer than the wait for an acquirer.
    server.timeout = SILENCE_MS;
    server.maxConnections = this.config.maxConnections;
    server.on('connection', (socket: Socket) => this.#connections.add(socket));
    server.on('clientError', (error, socket) => answerUnreadable(error, socket as Socket, this.requestLogger));
    // Node.js would answer unknown `Expect` headers by itself, without our limits.
    server.on('checkExpectation', (request, response) => this.#receive(request as Request, response as Response));
    this.httpServer = server;
  }

  /**
   * Answers like Express, but sends texts and bytes unchanged and never compares an answer with the browser's copy.
   */
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (body instanceof StreamableFile) {
      body.setErrorHandler((error) => {
        // After a part was sent, only hanging up tells the caller that the file is incomplete.
        if (response.headersSent) response.destroy();
        else sendError(response.req, response, toApiError(error));
      });
      // HEAD needs only the headers, also of a stream that would go on for a minute.
      if (response.req.method === 'HEAD') {
        body.getStream().destroy();
        const { type, disposition, length } = body.getHeaders();
        for (const [name, value] of Object.entries({
          ...{ 'Content-Type': type, 'Content-Disposition': disposition, 'Content-Length': length },
        })) {
          if (value !== undefined && !response.hasHeader(name)) response.setHeader(name, value);
        }
        return this.#endEmpty(response);
      }
      return super.reply(response, body, status);
    }
    if (status !== undefined) response.statusCode = status;
    if (body === undefined || body === null) return this.#endEmpty(response);
    const [type, payload] =
      typeof body === 'string'
        ? ['text/plain; charset=utf-8', body]
        : Buffer.isBuffer(body)
          ? ['application/octet-stream', body]
          : ['application/json; charset=utf-8', JSON.stringify(body)];
    if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', type);
    const bytes = Buffer.byteLength(payload);
    response.setHeader('Content-Length', bytes);
    response.emit(ANSWERED, bytes);
    return response.end(payload);
  }

  #endEmpty(response: Response): unknown {
    response.emit(ANSWERED, 0);
    return response.end();
  }

  /** Goes on serving for `drainMs` after the end was announced, then until all current requests are answered. */
  async stop(drainMs: number): Promise<void> {
    if (!(this.httpServer as Server).listening) return;
    this.drain.begin();
    await delay(drainMs);
    await this.close();
  }

  /** Answers current requests first; idle connections are closed. */
  override close(): Promise<unknown> {
    this.#end ??= this.#close();
    return this.#end;
  }

  async #close(): Promise<void> {
    this.drain.begin();
    // The kernel may hold requests of connections that look idle: they are read within one turn.
    await immediate();
    const closed = super.close();
    this.#isClosing = true;
    this.#connections.endUnasked();
    const end = setTimeout(() => (this.httpServer as Server).closeAllConnections(), LAST_ANSWERS_MS);
    await closed;
    clearTimeout(end);
  }

  #receive(request: Request, response: Response): void {
    if (!this.#connections.isWithinTurn(request, response)) return;
    request.id = requestId(request.headers['x-request-id']);
    request.receivedAt = performance.now();
    response.once('close', () => this.#closed(request, response));
    // Proxies may send the whole URL instead of the path.
    request.url = request.url.replace(/^https?:\/\/[^/?]*/i, '');
    enterDoor(request);
    const { url } = request;
    if (this.drain.isUnderWay || this.#connections.isCrowded) response.setHeader('Connection', 'close');
    if (request.headers.host === undefined && request.httpVersion !== '1.0') {
      response.setHeader('Connection', 'close');
      sendError(request, response, badRequest('invalid_request', 'The header Host is missing.'));
      return;
    }
    if (request.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1) {
      response.setHeader('Connection', 'close');
      sendError(request, response, badRequest('invalid_request', 'The header Host is there more than once.'));
      return;
    }
    if (parametersOf(url) > MAX_PARAMETERS) {
      const message = `An address has at most ${MAX_PARAMETERS} parameters.`;
      sendError(request, response, badRequest('invalid_request', message));
      return;
    }
    // A worker answers only health checks and metrics.
    const isServed = this.config.runsApi || /^\/(?:health\/|metrics(?:\?|$))/.test(url);
    if (isServed && isAddress(url)) this.getInstance<express.Express>()(request, response);
    else this.#browserHeaders(request, response, () => sendError(request, response, notFound('route')));
  }

  /** Sets a hook like Express's own, but also called for requests whose callers hung up before the answer. */
  override setOnResponseHook(onResponse: (request: Request, response: Response) => void): void {
    this.#onResponse = onResponse;
  }

  /** Waits until the answer has ended, also after a hang-up: only then the caller and the outcome are known. */
  #closed(request: Request, response: Response): void {
    const closedAt = performance.now();
    const look = (): void => {
      const isDone = response.writableEnded || performance.now() > closedAt + GONE_MS;
      if (isDone) this.#finished(request, response, closedAt - request.receivedAt);
      else setTimeout(look, LOOK_MS).unref();
    };
    look();
  }

  #finished(request: Request, response: Response, elapsedMs: number): void {
    // Keep the code of a refusal: it says more than a hang-up.
    if (!response.headersSent && request.errorCode === undefined) {
      const { status, code } = hungUp();
      response.statusCode = status;
      request.errorCode = code;
    }
    const { id, method, errorCode, callerForLog } = request;
    const route = routeOf(request) ?? 'unknown';
    const status = response.statusCode;
    // Answered before the request body ended: close the socket.
    if (!request.complete) request.socket.destroySoon();
    this.metrics.httpSeconds.observe({ method, route, status: String(status) }, elapsedMs / 1000);
    const durationMs = Math.round(elapsedMs * 10) / 10;
    this.requestLogger.info(
      { requestId: id, method, route, status, errorCode, durationMs, ...callerForLog },
      'request',
    );
    try {
      this.#onResponse(request, response);
    } catch (error) {
      this.requestLogger.error({ requestId: id, error }, 'the log of requests has failed');
    }
    if (this.#isClosing) setImmediate(() => (this.httpServer as Server).closeIdleConnections());
  }
}
