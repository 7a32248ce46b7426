import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, NotFoundException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isBeyondExact, isLockTimeout, isUnavailable } from '../database/index.js';
import { ApiError, badRequest, noSuchRoute, notFound, serviceUnavailable } from '../errors/index.js';
import type { Logger } from '../log/index.js';
import { HELD_MS } from '../rate-limit/index.js';
import { drain } from './body.js';
import { nearRoute } from './near-route.js';
import { isRead, routeOf } from './request.js';
import { stampAnswer } from './request-id.interceptor.js';

/** Everything that is thrown becomes the envelope of docs/contract.md#errors; nothing else ever leaves. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  /** @param switchedOff routes that answer 404 here, as `GET /v1/charges` */
  constructor(
    private readonly logger: Logger,
    private readonly switchedOff: readonly string[] = [],
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const hasNoRoute = error instanceof NotFoundException && routeOf(request) === undefined;
    const refusal = hasNoRoute ? noSuchRoute(nearRoute(request, this.switchedOff)) : toApiError(error, isRead(request));
    if (error instanceof ApiError && error.code === 'service_unavailable') {
      // Said on purpose, as to who would wait too long: a flood of it must not fill the log with stacks.
      this.logger.warn({ reason: error.message, requestId: request.id, route: routeOf(request) }, 'request refused');
    } else if (refusal.status >= 500) {
      this.logger.error({ error, requestId: request.id, route: routeOf(request) }, 'request failed');
    }
    // Held for a moment: a flood of requests for unknown routes would cost as much as real ones.
    if (refusal.status === 404 && routeOf(request) === undefined) {
      setTimeout(() => sendError(request, response, refusal), HELD_MS);
    } else {
      sendError(request, response, refusal);
    }
  }
}

/** How long a caller who was refused while still sending may go on, so that the answer arrives. */
const LINGER_MS = 5_000;

/** Answers at once, also a caller who is still sending: the rest of the body is dropped and the connection closed. */
export function sendError(request: Request, response: Response, error: ApiError): void {
  if (response.headersSent) return;
  request.errorCode = error.code;
  const body = JSON.stringify({ error: error.body(), request_id: request.id });
  stampAnswer(request, response);
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  response.statusCode = error.status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  if (request.complete || request.destroyed) {
    response.end(body);
    return;
  }
  response.setHeader('Connection', 'close');
  response.write(body);
  void drain(request, LINGER_MS).then(() => response.end());
}

/** @param isReading whether nothing would be written again: there is no key to repeat the request with */
export function toApiError(error: unknown, isReading = false): ApiError {
  if (error instanceof ApiError) return error;
  if (isBeyondExact(error)) {
    return badRequest(
      'invalid_request',
      `This would bring a balance beyond ${Number.MAX_SAFE_INTEGER}, the most that is kept exactly.`,
      'amount',
    );
  }
  if (isUnavailable(error) || isLockTimeout(error)) return serviceUnavailable();
  const status = error instanceof HttpException ? error.getStatus() : statusOf(error);
  if (status === 404) return notFound('route');
  if (status >= 400 && status < 500) return badRequest('invalid_request', 'The request is not well formed.');
  return new ApiError(
    500,
    'api_error',
    'internal_error',
    `Something went wrong on our side. Repeating the request ${isReading ? '' : 'with the same Idempotency-Key '}is safe.`,
  );
}

function statusOf(error: unknown): number {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}
