import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Config, CONFIG } from '../core/config/index.js';
import { ApiError, badRequest, invalidRequest, notFound, unauthorized } from '../core/errors/index.js';
import { RateLimiter, type RateLimitPolicy, type RateLimitResult } from '../core/rate-limit/index.js';
import { type Access, ACCESS, IDEMPOTENT, IP_LIMIT, TEST_ONLY } from './access.decorators.js';
import { Authenticators } from './authenticators.js';

/** Order of checks (decisions §2.3): authentication → rate limit → idempotency key. A route that says nothing is closed. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly reflector: Reflector,
    private readonly authenticators: Authenticators,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (access === 'public') return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = request.headers['apikey'];
    const principal = access === 'api-key' && typeof key === 'string' ? await this.authenticators.apiKey(key) : null;
    if (!principal) {
      await this.#countFailure(context);
      throw unauthorized();
    }
    request.principal = principal;
    request.callerForLog = {
      accountId: principal.accountId,
      mode: principal.mode,
      apiKeyFingerprint: principal.fingerprint,
    };
    const targets = [context.getHandler(), context.getClass()];
    if (principal.mode !== 'test' && this.reflector.getAllAndOverride<boolean | undefined>(TEST_ONLY, targets)) {
      throw notFound('route');
    }
    return true;
  }

  /** Guessing keys is slow work: past the limit an address hears 429 instead of 401. */
  async #countFailure(context: ExecutionContext): Promise<void> {
    const { enabled, authFailuresPerMinute } = this.config.rateLimit;
    if (!enabled) return;
    const policy = { rate: authFailuresPerMinute / 60, burst: authFailuresPerMinute };
    const http = context.switchToHttp();
    const result = await this.limiter.take(`auth:${http.getRequest<FastifyRequest>().ip}`, policy);
    if (result.allowed) return;
    stampRateLimit(http.getResponse<FastifyReply>(), result);
    throw rateLimited(result.retryAfterSeconds);
  }
}

@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly reflector: Reflector,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (!this.config.rateLimit.enabled) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const bucket = this.#bucket(context, request);
    if (!bucket) return true;
    const taken = this.limiter.take(bucket.key, bucket.policy);
    const result = taken instanceof Promise ? await taken : taken;
    stampRateLimit(http.getResponse<FastifyReply>(), result);
    if (!result.allowed) throw rateLimited(result.retryAfterSeconds);
    return true;
  }

  #bucket(context: ExecutionContext, request: FastifyRequest): { key: string; policy: RateLimitPolicy } | null {
    if (request.principal) {
      const { accountId, mode } = request.principal;
      const { rate, burst } = this.config.rateLimit;
      return { key: `account:${accountId}:${mode}`, policy: { rate, burst } };
    }
    if (!this.reflector.get<boolean | undefined>(IP_LIMIT, context.getHandler())) return null;
    const perMinute = this.config.rateLimit.publicPerMinute;
    const route = request.routeOptions.url ?? '';
    return { key: `ip:${route}:${request.ip}`, policy: { rate: perMinute / 60, burst: perMinute } };
  }
}

@Injectable()
export class IdempotencyKeyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (!this.reflector.get<boolean | undefined>(IDEMPOTENT, context.getHandler())) return true;
    const key = context.switchToHttp().getRequest<FastifyRequest>().headers['idempotency-key'];
    if (key === undefined || key === '') {
      throw badRequest(
        'idempotency_key_required',
        'This is a financial write: send an Idempotency-Key header of 8 to 128 characters, new for each intended write.',
        'Idempotency-Key',
      );
    }
    if (typeof key !== 'string' || !/^[\x20-\x7e]{8,128}$/.test(key)) {
      throw invalidRequest([
        { param: 'Idempotency-Key', code: 'invalid', message: 'must have 8 to 128 printable ASCII characters' },
      ]);
    }
    return true;
  }
}

function stampRateLimit(reply: FastifyReply, result: RateLimitResult): void {
  reply
    .header('RateLimit-Limit', result.limit)
    .header('RateLimit-Remaining', result.remaining)
    .header('RateLimit-Reset', result.resetSeconds);
}

function rateLimited(retryAfterSeconds: number): ApiError {
  return new ApiError(
    429,
    'rate_limit_error',
    'rate_limited',
    `Too many requests; try again in ${retryAfterSeconds} s.`,
    { headers: { 'Retry-After': String(retryAfterSeconds) } },
  );
}
