import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { invalidRequest } from '../errors/index.js';
import { readBody } from './body.js';
import { Found } from './json-scan.js';
import { UNKNOWN_FIELD } from './nested.decorator.js';
import { RawBody } from './raw-body.js';

/**
 * Refuses fields that a route does not read at all, so that no DTO does: a `limit` on a list that has no pages must not
 * seem to work (docs/contract.md#unknown-and-malformed-input). What a route does read, its pipe reads.
 */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const args = Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), context.getHandler().name) as
      object | undefined;
    const reads = (type: RouteParamtypes): boolean =>
      Object.keys(args ?? {}).some((key) => key.startsWith(`${String(type)}:`));
    const isRaw = request.routeOptions.config.rawBody !== undefined;
    const body =
      request.body instanceof RawBody && !isRaw && !reads(RouteParamtypes.BODY) ? await readBody(request.body) : null;
    // Public pages get whatever links add to them.
    if (request.url.startsWith('/v1/')) {
      const unread = new Found();
      const query = reads(RouteParamtypes.QUERY) ? {} : (request.query ?? {});
      for (const name of [...Object.keys(query), ...Object.keys(body?.value ?? {})]) {
        unread.add(() => name, UNKNOWN_FIELD);
      }
      if (unread.named.length > 0) throw invalidRequest(unread.named, unread.unnamed);
    }
    return next.handle();
  }
}
