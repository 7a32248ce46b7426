import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isBeyondExact, isLockTimeout, isUnavailable } from '../database/index.js';
import { ApiError, badRequest, notFound, serviceUnavailable } from '../errors/index.js';
import type { Logger } from '../log/index.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The `error.code` it was answered with. */
    errorCode?: string;
  }
}

/** Everything that is thrown becomes the envelope of docs/contract.md#errors; nothing else ever leaves. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const answer = toApiError(error);
    if (answer.status >= 500) {
      this.logger.error({ error, requestId: request.id, route: request.routeOptions?.url }, 'request failed');
    }
    sendError(request, reply, answer);
  }
}

export function sendError(request: FastifyRequest, reply: FastifyReply, error: ApiError): void {
  if (reply.sent) return;
  request.errorCode = error.code;
  void reply
    .code(error.status)
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ error: error.body(), request_id: request.id }));
}

/** @internal exported for its spec */
export function toApiError(error: unknown): ApiError {
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
  // 414 is a path parameter too long for any id of ours: an id nobody has.
  if (status === 404 || status === 414) return notFound('route');
  if (status === 413) {
    return new ApiError(413, 'invalid_request_error', 'payload_too_large', 'The request is too large.');
  }
  if (status === 415) {
    return new ApiError(
      415,
      'invalid_request_error',
      'unsupported_media_type',
      'Send the body as JSON with the header Content-Type: application/json.',
    );
  }
  if (status >= 400 && status < 500) return badRequest('invalid_request', 'The request is not well formed.');
  return new ApiError(
    500,
    'api_error',
    'internal_error',
    'Something went wrong on our side. Repeating the request with the same Idempotency-Key is safe.',
  );
}

function statusOf(error: unknown): number {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}
