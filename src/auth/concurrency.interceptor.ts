import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { setTimeout as delay } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { type Config, CONFIG } from '../core/config/index.js';
import { hungUp, serviceUnavailable } from '../core/errors/index.js';
import { ANSWERED, isRead } from '../core/http/index.js';
import { Turnstile } from '../core/turnstile.js';
import { ASKS_OTHERS } from './access.decorators.js';
import { bucketOf } from './principal.js';

/** Reads of one caller at a time in this process. Most take a few milliseconds; some take all that a processor has. */
const OF_ONE = 2;
const OF_ALL = 64;
const MAX_WAITING = 2_000;
/**
 * A large answer takes the processor alone: its account rests some five times as long before the next read, at 25 ns a
 * byte for making it.
 */
const LARGE_BYTES = 32 * 1024;
const BYTES_PER_MS_OF_REST = 6_000;
/** How long an answer may be in coming when its work is done: one that never comes keeps no place. */
const ANSWER_MS = 1_000;

/**
 * Reads of one caller wait for each other, and then those of all callers of one account: however many are asked for at
 * once, others' requests are served, and a caller waits for at most two reads of each other caller of the account.
 */
@Injectable()
export class ConcurrencyInterceptor implements NestInterceptor {
  readonly #callers = new Turnstile(MAX_WAITING, MAX_WAITING, OF_ONE);
  readonly #accounts = new Turnstile(MAX_WAITING, MAX_WAITING, OF_ONE);
  readonly #all = new Turnstile(OF_ALL, MAX_WAITING);

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const { principal } = request;
    const asksOthers = this.reflector.get<true | undefined>(ASKS_OTHERS, context.getHandler()) === true;
    if (!this.config.rateLimit.enabled || !principal || !isRead(request) || asksOthers) return next.handle();
    const response = http.getResponse<Response>();
    const refusal = (): Error => serviceUnavailable('Too many reads are waiting; retry with backoff.');
    // Whoever has hung up since waits for nothing: their places would be full of work that nobody reads.
    const read = (): Promise<unknown> =>
      response.destroyed ? Promise.reject(hungUp()) : lastValueFrom(next.handle(), { defaultValue: undefined });
    const account = principal.kind === 'operator' ? bucketOf(principal) : principal.accountId;
    const answered = bytesOf(response);
    const rest = async (): Promise<void> => {
      // A hang-up while it is made spares nobody the work: the answer is made all the same, if it is one.
      const bytes = await Promise.race([answered, delay(ANSWER_MS, 0, { ref: false })]);
      if (bytes > LARGE_BYTES) await delay(bytes / BYTES_PER_MS_OF_REST, undefined, { ref: false });
    };
    const inTurn = (): Promise<unknown> =>
      this.#accounts.pass(() => this.#all.pass(read, refusal), refusal, account, rest);
    return from(this.#callers.pass(inTurn, refusal, bucketOf(principal)));
  }
}

/** @returns how large the answer is, once it has been made; 0 for one that is a stream, or that ended without being made */
function bytesOf(response: Response): Promise<number> {
  return new Promise((resolve) => {
    response.once(ANSWERED, resolve);
    response.once('pipe', () => resolve(0));
    response.once('close', () => {
      if (response.writableEnded) resolve(0);
    });
  });
}
