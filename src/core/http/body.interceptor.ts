import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { ApiError, badRequest } from '../errors/index.js';
import { MAX_BODY_BYTES, RawBody } from './raw-body.js';

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

@Injectable()
export class BodyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.body instanceof RawBody) request.body = parseBody(request.body);
    return next.handle();
  }
}
