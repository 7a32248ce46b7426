import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { map, type Observable, of, retry } from 'rxjs';
import { badRequest, invalidRequest } from '../errors/index.js';
import { ApiErrors, REPEATED_ERRORS } from '../http/index.js';
import { type IdempotentAnswer, KeyChanged, keyInUse, WAIT_MS } from './idempotency.service.js';

type KeyPlace = 'header' | 'body';

const KEY_PLACE = Symbol('where the idempotency key is');

/**
 * Marks a financial write: its handler returns an IdempotentAnswer, whose body is sent. A missing header
 * `Idempotency-Key` is a 400. A key in the body is an ordinary field, which the DTO checks.
 * @param options.permanent whether the key is kept for ever, as the document says
 */
export function Idempotent(place: KeyPlace, { permanent = false } = {}): MethodDecorator {
  const marked = SetMetadata(KEY_PLACE, place);
  if (place === 'body') return applyDecorators(marked, ApiErrors(...REPEATED_ERRORS));
  return applyDecorators(
    marked,
    ApiErrors('idempotency_key_required', ...REPEATED_ERRORS),
    ApiHeader({
      name: 'Idempotency-Key',
      required: true,
      description: `8 to 128 printable ASCII characters, new for each intended write. A repetition ${permanent ? 'at any time' : 'within 24 hours'} gets the first answer with \`Idempotent-Replayed: true\`.`,
      schema: { type: 'string', minLength: 8, maxLength: 128 },
      example: 'order-1042-attempt-1',
    }),
  );
}

/** Documents the header of a stored answer. */
export const REPLAYED_HEADER = {
  'Idempotent-Replayed': {
    description: '`true` when this is the stored answer of an earlier request with the same key.',
    schema: { type: 'string' as const, enum: ['true'] },
  },
};

/**
 * Checks the key before the body is read, and marks stored answers. If the key went to a twin meanwhile, begins the
 * request again. The key's row is written in the transaction that it protects: see IdempotencyService.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const place = Reflect.getMetadata(KEY_PLACE, context.getHandler()) as KeyPlace | undefined;
    if (place === undefined) return next.handle();
    const http = context.switchToHttp();
    if (place === 'header') checkKey(http.getRequest<Request>());
    const started = performance.now();
    const again = (error: unknown): Observable<true> => {
      if (!(error instanceof KeyChanged)) throw error;
      if (performance.now() - started >= WAIT_MS) throw keyInUse();
      return of(true);
    };
    return next.handle().pipe(
      retry({ delay: again }),
      map(({ body, replayed }: IdempotentAnswer<unknown>) => {
        if (replayed) http.getResponse<Response>().setHeader('Idempotent-Replayed', 'true');
        return body;
      }),
    );
  }
}

/** @throws ApiError 400 */
function checkKey({ headers, rawHeaders }: Request): void {
  const key = headers['idempotency-key'];
  if (key === undefined || key === '') {
    throw badRequest(
      'idempotency_key_required',
      'This is a financial write: send an Idempotency-Key header of 8 to 128 characters, new for each intended write.',
      'Idempotency-Key',
    );
  }
  // Node.js joins repeated headers into one text, which would be a third key.
  const names = rawHeaders.filter((_text, index) => index % 2 === 0);
  if (names.filter((name) => name.toLowerCase() === 'idempotency-key').length > 1) {
    throw invalidRequest([{ param: 'Idempotency-Key', code: 'invalid', message: 'must be sent once' }]);
  }
  if (typeof key !== 'string' || !/^[\x20-\x7e]{8,128}$/.test(key)) {
    throw invalidRequest([
      { param: 'Idempotency-Key', code: 'invalid', message: 'must have 8 to 128 printable ASCII characters' },
    ]);
  }
}
