import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { ApiError, badRequest, invalidRequest, type Violation } from '../errors/index.js';
import { MAX_BODY_BYTES, RawBody } from './raw-body.js';
import { MAX_UNKNOWN, unknownField } from './validation.pipe.js';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * Bytes → JSON, after the guards and before the validation.
 * @returns undefined for an empty body
 * @throws ApiError 400, 413 or 415
 */
export function parseBody(raw: RawBody): unknown {
  if (raw.tooLarge) {
    throw new ApiError(
      413,
      'invalid_request_error',
      'payload_too_large',
      `The body is larger than ${MAX_BODY_BYTES} bytes.`,
    );
  }
  if (raw.bytes.length === 0) return undefined;
  if (!/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(raw.contentType.trim())) {
    throw new ApiError(
      415,
      'invalid_request_error',
      'unsupported_media_type',
      'Send the body as JSON with the header Content-Type: application/json.',
    );
  }
  let text: string;
  try {
    text = decoder.decode(raw.bytes);
  } catch {
    throw badRequest('invalid_request', 'The body is not valid UTF-8.');
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw badRequest('invalid_request', 'The body is not valid JSON.');
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw badRequest('invalid_request', 'The body must be a JSON object.');
  }
  return body;
}

/**
 * Fields that a route does not read at all, so that no DTO refuses them: a `limit` on a list that has no pages must not
 * seem to work (decisions §2.4).
 */
function unread(context: ExecutionContext, request: FastifyRequest): Violation[] {
  const args = Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), context.getHandler().name) as
    object | undefined;
  const reads = (type: RouteParamtypes): boolean =>
    Object.keys(args ?? {}).some((key) => key.startsWith(`${String(type)}:`));
  const sources: [RouteParamtypes, unknown][] = [
    [RouteParamtypes.QUERY, request.query],
    [RouteParamtypes.BODY, request.body],
  ];
  return sources.flatMap(([type, sent]) =>
    reads(type) ? [] : Object.keys(sent ?? {}).map((name) => unknownField(name)),
  );
}

@Injectable()
export class BodyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const isRaw = request.routeOptions.config.rawBody !== undefined;
    if (request.body instanceof RawBody && !isRaw) request.body = parseBody(request.body);
    // Public pages get whatever links add to them.
    if (request.url.startsWith('/v1/')) {
      const violations = unread(context, request);
      if (violations.length > 0) throw invalidRequest(violations.slice(0, MAX_UNKNOWN));
    }
    return next.handle();
  }
}
