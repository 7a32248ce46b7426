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

/** Event of a response: its body has been made, of so many bytes, whether anybody reads it or not. */
export const ANSWERED = 'answered';

const REQUEST_ID = /^[A-Za-z0-9_-]{8,128}$/;
/** Longer than any id of ours. */
const MAX_SEGMENT_LENGTH = 200;

function requestId(given?: string | string[]): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : `req_${uniqueBytes(16).toString('hex')}`;
}

/** Whether a route may have this address: of one that cannot be decoded, or holds more than an id, nothing is ever found. */
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

/** What Node's parser cannot read as a request never becomes one: even so the answer is the envelope. */
function answerUnreadable(error: Error & { code?: string }, socket: Socket, logger: Logger): void {
  const tooLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  // A browser opens connections ahead of its requests, and would take an answer here for that of the next one.
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

/** How many parameters a query may have: more than any route reads, and few enough to parse for any caller. */
const MOST_PARAMETERS = 64;

function parametersOf(url: string): number {
  const at = url.indexOf('?');
  return at === -1 ? 0 : url.slice(at).split('&', MOST_PARAMETERS + 1).length;
}

/** `metadata[order]=1` is `{metadata: {order: '1'}}`. */
function parseQuery(url: string): object {
  const at = url.indexOf('?');
  if (at === -1) return {};
  // All of the keys: one that is not read would be an unknown field that is not refused.
  const query = parse(url.slice(at + 1), '&', '=', { maxKeys: 0 });
  const names = new Set(Object.keys(query).filter((name) => METADATA_KEY.test(name)));
  if (names.size === 0 || 'metadata' in query) return query;
  const metadata = Object.fromEntries([...names].map((name) => [METADATA_KEY.exec(name)?.[1] ?? '', query[name]]));
  return { ...Object.fromEntries(Object.entries(query).filter(([name]) => !names.has(name))), metadata };
}

/** How long a connection with a request under way may be silent. */
const SILENCE_MS = 60_000;
/** The work of a request whose caller has hung up takes less; it is looked at so often whether it is done. */
const GONE_MS = 60_000;
const LOOK_MS = 200;
/** Time for the last answers of a process that ends: a caller that drips its request must not hold it until it is killed. */
const LAST_ANSWERS_MS = 30_000;

/**
 * The HTTP server under NestJS. What must hold for every request, also for those no guard or interceptor ever sees
 * (unknown routes, malformed addresses), is done here around Express: its id, the request log, metrics.
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
    // A trusted proxy is one with a port behind its address too.
    const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
    // A connection that was reset before it was accepted has no address.
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
    // Express gives each request and response its own prototypes, which makes every use of them slow afterwards: here
    // they are born with them.
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
        // Longer than the keep-alive of the usual proxies, which would otherwise reuse a connection we just closed.
        keepAliveTimeout: 72_000,
        // For the whole of a request: a file over a phone's uplink takes minutes. Bodies that are no files have less,
        // see `readBytes`, and headers come with the first packets.
        requestTimeout: 300_000,
        headersTimeout: 10_000,
        connectionsCheckingInterval: 5_000,
        // Refused below, in the envelope of every other answer.
        requireHostHeader: false,
      },
      (request, response) => this.#receive(request as Request, response as Response),
    );
    // Beyond its count Node.js drops headers in silence, and with them a second Idempotency-Key or apikey that is looked
    // for; their size has a limit of its own.
    server.maxHeadersCount = 0;
    // For a client that reads no answer, or a handler that makes none: longer than an acquirer is waited for.
    server.timeout = SILENCE_MS;
    server.maxConnections = this.config.maxConnections;
    server.on('connection', (socket: Socket) => this.#connections.add(socket));
    server.on('clientError', (error, socket) => answerUnreadable(error, socket as Socket, this.requestLogger));
    // Node.js would answer by itself what it is not asked to know, past every limit.
    server.on('checkExpectation', (request, response) => this.#receive(request as Request, response as Response));
    this.httpServer = server;
  }

  /** Answers like Express, but texts and bytes are sent as they are, and no answer is compared with what a browser has. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (body instanceof StreamableFile) {
      body.setErrorHandler((error) => {
        // What is half sent cannot be taken back: our hanging up says that it is not whole.
        if (response.headersSent) response.destroy();
        else sendError(response.req, response, toApiError(error));
      });
      // The headers alone are wanted, also of a stream that would go on for a minute.
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

  /** Serves requests for so long after the end was announced, and then until those under way are answered. */
  async stop(drainMs: number): Promise<void> {
    if (!(this.httpServer as Server).listening) return;
    this.drain.begin();
    await delay(drainMs);
    await this.close();
  }

  /** Answers requests under way first; idle connections are closed. */
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
    // Proxies may send the whole address.
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
    if (parametersOf(url) > MOST_PARAMETERS) {
      const message = `An address has at most ${MOST_PARAMETERS} parameters.`;
      sendError(request, response, badRequest('invalid_request', message));
      return;
    }
    // A worker answers only those who watch it.
    const isServed = this.config.runsApi || /^\/(?:health\/|metrics(?:\?|$))/.test(url);
    if (isServed && isAddress(url)) this.getInstance<express.Express>()(request, response);
    else this.#browserHeaders(request, response, () => sendError(request, response, notFound('route')));
  }

  /** Like Express's own hook, but also called for requests whose callers hung up before the answer. */
  override setOnResponseHook(onResponse: (request: Request, response: Response) => void): void {
    this.#onResponse = onResponse;
  }

  /** An answer that was sent, or whose caller has hung up: whose key it was, and what became of it, is known at its end. */
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
    // A refusal says more than that nobody waited for it.
    if (!response.headersSent && request.errorCode === undefined) {
      const { status, code } = hungUp();
      response.statusCode = status;
      request.errorCode = code;
    }
    const { id, method, errorCode, callerForLog } = request;
    const route = routeOf(request) ?? 'unknown';
    const status = response.statusCode;
    // It was answered while its body is still coming, which is not read.
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
