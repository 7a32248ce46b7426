import { randomBytes } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_VERSION } from '../api-version.js';
import type { Config } from '../config/index.js';
import { notFound } from '../errors/index.js';
import type { Logger } from '../log/index.js';
import type { Metrics } from '../metrics/index.js';
import { registerBrowserHeaders } from './browser-headers.js';
import { sendError, toApiError } from './error.filter.js';
import { registerRawBodyParser } from './raw-body.js';

const REQUEST_ID = /^[A-Za-z0-9_-]{8,128}$/;

function requestId(raw?: IncomingMessage): string {
  const given = raw?.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : `req_${randomBytes(16).toString('hex')}`;
}

/** What Node's parser cannot read as a request never becomes one: even so the answer is the envelope. */
function answerUnreadable(error: Error & { code?: string }, socket: Socket, logger: Logger): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const id = requestId();
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const status = tooLarge ? 431 : 400;
  const message = tooLarge ? 'The headers are too large.' : 'This is not an HTTP request.';
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

/** What the guards found out about the caller, for the request log: of a key, or of a user. */
export interface CallerForLog {
  accountId?: string;
  mode?: string;
  apiKeyFingerprint?: string;
  userId?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    callerForLog?: CallerForLog;
  }
}

/**
 * The HTTP server under NestJS. What must hold for every answer, also for those no guard or interceptor ever sees
 * (unknown routes, malformed requests), is done here in hooks: request id, version header, request log, metrics.
 */
export function createHttpAdapter(config: Config, logger: Logger, metrics: Metrics): FastifyAdapter {
  const adapter = new FastifyAdapter({
    genReqId: (raw: IncomingMessage) => requestId(raw),
    requestIdHeader: false,
    logger: false,
    trustProxy: config.trustProxies.length > 0 && [...config.trustProxies],
    // Longer than the keep-alive of the usual proxies, which would otherwise reuse a connection we just closed.
    keepAliveTimeout: 72_000,
    // For the whole of a request: a file over a phone's uplink takes minutes. Headers have Node's one minute.
    requestTimeout: 300_000,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      // An address that cannot be decoded is one that nobody has: a malformed id is a 404 (docs/contract.md#ids).
      const answer = error.code === 'FST_ERR_BAD_URL' ? notFound('route') : toApiError(error);
      reply.header('X-Request-Id', request.id).header('X-Api-Version', API_VERSION);
      // No hook runs for a request that the router gives up on.
      logger.info(
        { requestId: request.id, method: request.method, route: 'unknown', status: answer.status },
        'request',
      );
      sendError(request, reply, answer);
    },
    clientErrorHandler: (error: Error & { code?: string }, socket: Socket) => answerUnreadable(error, socket, logger),
  });
  const instance = adapter.getInstance<FastifyInstance>();
  // Beyond its count Node.js drops headers in silence, and with them a second Idempotency-Key or apikey that is looked
  // for; their size has a limit of its own.
  instance.server.maxHeadersCount = 0;
  registerRawBodyParser(instance);
  instance.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id).header('X-Api-Version', API_VERSION);
    done();
  });
  if (!config.runsApi) {
    // A worker answers only those who watch it.
    instance.addHook('onRequest', (request, reply, done) => {
      if (/^\/(?:health\/|metrics(?:\?|$))/.test(request.url)) done();
      else sendError(request, reply, notFound('route'));
    });
  }
  registerBrowserHeaders(instance, config);
  instance.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    metrics.httpSeconds.observe(
      { method: request.method, route, status: String(reply.statusCode) },
      reply.elapsedTime / 1000,
    );
    logger.info(
      {
        requestId: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        errorCode: request.errorCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        ...request.callerForLog,
      },
      'request',
    );
    done();
  });
  return adapter;
}
