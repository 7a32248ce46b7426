import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { invalidRequest } from '../errors/index.js';
import { JsonBody, READS_BODY, readJson } from './body.js';
import { Found } from './json-scan.js';
import { UNKNOWN_FIELD } from './nested.decorator.js';

/**
 * Reads the body, after the guards: a caller who is not let in learns nothing about it. Refuses fields that a route
 * does not read at all, since no DTO refuses them. A `limit` on a list without pages must not seem to work
 * (docs/contract.md#unknown-and-malformed-input).
 */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const args = Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), context.getHandler().name) as
      object | undefined;
    const reads = (type: RouteParamtypes): boolean =>
      Object.keys(args ?? {}).some((key) => key.startsWith(`${String(type)}:`));
    const unread = new Found();
    // Links to public pages may have any parameters added.
    const isApi = request.url.startsWith('/v1/');
    const add = (fields: object): void => {
      if (isApi) for (const name of Object.keys(fields)) unread.add(() => name, UNKNOWN_FIELD);
    };
    const readsBody = reads(RouteParamtypes.BODY);
    const isBodiless = request.method === 'GET' || request.method === 'HEAD';
    if (!reads(RouteParamtypes.QUERY)) add(request.query);
    if (!readsBody && !isBodiless && Reflect.getMetadata(READS_BODY, context.getHandler()) !== true) {
      add((await readJson(request)).value);
    }
    if (unread.named.length > 0) throw invalidRequest(unread.named, unread.unnamed);
    // A request that is begun again already has its body.
    if (readsBody && !(request.body instanceof JsonBody)) request.body = await readJson(request);
    return next.handle();
  }
}
