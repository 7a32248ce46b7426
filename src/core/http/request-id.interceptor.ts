import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { API_VERSION } from '../api-version.js';

/** Every answer names its request and the version of the contract. */
export function stampAnswer(request: Pick<Request, 'id'>, response: Response): void {
  response.setHeader('X-Request-Id', request.id);
  response.setHeader('X-Api-Version', API_VERSION);
}

/** Stamps the answers of controllers with the id that the server has given their request; refusals are `sendError`'s. */
@Injectable()
export class RequestIdInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    stampAnswer(http.getRequest<Request>(), http.getResponse<Response>());
    return next.handle();
  }
}
