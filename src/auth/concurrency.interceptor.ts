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

/** Reads of one caller at a time in this process. Most take a few milliseconds; some take a whole processor. */
const OF_ONE = 2;
const OF_ALL = 64;
const MAX_WAITING = 2_000;
/**
 * Size above which an answer takes a processor alone, at 25 ns a byte. The account then rests about five times as long
 * before its next read.
 */
const LARGE_BYTES = 32 * 1024;
const BYTES_PER_MS_OF_REST = 6_000;
/** Time for which a finished read waits for its answer: a missing answer must not keep the place. */
const ANSWER_MS = 1_000;

/**
 * Queues reads per caller, and then per account. However many reads one account sends, others' requests are served. A
 * caller waits for at most two reads of each other caller of the account.
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
    // Skip requests whose client disconnected in the queue.
    const read = (): Promise<unknown> =>
      response.destroyed ? Promise.reject(hungUp()) : lastValueFrom(next.handle(), { defaultValue: undefined });
    const account = principal.kind === 'operator' ? bucketOf(principal) : principal.accountId;
    const answered = bytesOf(response);
    const rest = async (): Promise<void> => {
      // If the client hangs up meanwhile, the answer is made all the same, and its cost counts.
      const bytes = await Promise.race([answered, delay(ANSWER_MS, 0, { ref: false })]);
      if (bytes > LARGE_BYTES) await delay(bytes / BYTES_PER_MS_OF_REST, undefined, { ref: false });
    };
    const inTurn = (): Promise<unknown> =>
      this.#accounts.pass(() => this.#all.pass(read, refusal), refusal, account, rest);
    return from(this.#callers.pass(inTurn, refusal, bucketOf(principal)));
  }
}

/** @returns the size of the answer, after it was made; 0 for a stream, or if it ended without being made */
function bytesOf(response: Response): Promise<number> {
  return new Promise((resolve) => {
    response.once(ANSWERED, resolve);
    response.once('pipe', () => resolve(0));
    response.once('close', () => {
      if (response.writableEnded) resolve(0);
    });
  });
}
