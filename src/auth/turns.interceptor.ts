import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { type Config, CONFIG } from '../core/config/index.js';
import { serviceUnavailable } from '../core/errors/index.js';
import { isRead } from '../core/http/index.js';
import { Turnstile } from '../core/turnstile.js';
import { ASKS_OTHERS } from './access.decorators.js';
import { bucketOf } from './principal.js';

/** Reads of one caller at a time in this process. Most take a few milliseconds; some take all that a processor has. */
const OF_ONE = 2;
const OF_ALL = 64;
const MAX_WAITING = 2_000;

/**
 * Reads of one caller wait for each other, and then those of all callers of one account: however many are asked for at
 * once, others' requests are served, and of an account nobody waits for more than two reads of each of the others.
 */
@Injectable()
export class TurnsInterceptor implements NestInterceptor {
  readonly #callers = new Turnstile(MAX_WAITING, MAX_WAITING, OF_ONE);
  readonly #accounts = new Turnstile(OF_ALL, MAX_WAITING, OF_ONE);

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const { principal } = request;
    const asksOthers = this.reflector.get<true | undefined>(ASKS_OTHERS, context.getHandler()) === true;
    if (!this.config.rateLimit.enabled || !principal || !isRead(request) || asksOthers) return next.handle();
    const read = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    const refusal = (): Error => serviceUnavailable('Too many reads are waiting; retry with backoff.');
    const account = principal.kind === 'operator' ? bucketOf(principal) : principal.accountId;
    const inTurn = (): Promise<unknown> => this.#accounts.pass(read, refusal, account);
    return from(this.#callers.pass(inTurn, refusal, bucketOf(principal)));
  }
}
