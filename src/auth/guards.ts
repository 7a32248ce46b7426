import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { type Config, CONFIG } from '../core/config/index.js';
import { ApiError, forbidden, notFound, unauthorized } from '../core/errors/index.js';
import { addressOf, ANSWERED, answerTokensOf, bodyBytesOf, bodyTokensOf, routeOf } from '../core/http/index.js';
import { addressClass } from '../core/net/index.js';
import {
  perMinute,
  RateLimiter,
  rateLimitHeaders,
  type RateLimitResult,
  refuse,
  takeForAddress,
} from '../core/rate-limit/index.js';
import {
  type Access,
  ACCESS,
  COST,
  type Cost,
  BEFORE_SECOND_FACTOR,
  IP_LIMIT,
  type IpLimit,
  ROLE_REFUSAL,
  ROLES,
  TEST_ONLY,
} from './access.decorators.js';
import { Authenticators } from './authenticators.service.js';
import { bucketOf, type DashboardRole, type Principal } from './principal.js';
import { SecondFactorRule } from './second-factor-rule.service.js';
import { Sessions } from './sessions.service.js';

/**
 * In the order of docs/contract.md#order-of-checks. A route that says nothing is
 * closed, and each route takes one kind of credential: a key opens no dashboard route, a login no other.
 */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly reflector: Reflector,
    private readonly authenticators: Authenticators,
    private readonly sessions: Sessions,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, targets);
    if (access === 'public') return true;
    const request = context.switchToHttp().getRequest<Request>();
    const principal = await this.#authenticate(access, request).catch(async (error: unknown) => {
      // A key that is good and not let in is refused as often as one that is none.
      if (error instanceof ApiError && error.status < 500) await this.#countFailure(addressOf(request));
      throw error;
    });
    if (!principal) {
      await this.#countFailure(addressOf(request));
      throw unauthorized(access === 'dashboard' ? 'dashboard' : 'api-key');
    }
    request.principal = principal;
    if (principal.kind !== 'api-key') {
      request.callerForLog = {
        userId: principal.userId,
        ...(principal.kind === 'member' ? { accountId: principal.accountId } : {}),
      };
      return true;
    }
    request.callerForLog = {
      accountId: principal.accountId,
      mode: principal.mode,
      apiKeyFingerprint: principal.fingerprint,
    };
    return true;
  }

  async #authenticate(access: Access | undefined, request: Request): Promise<Principal | null> {
    const { apikey, authorization } = request.headers;
    if (access === 'api-key') {
      return typeof apikey === 'string' ? this.authenticators.apiKey(apikey, addressOf(request)) : null;
    }
    if (access === 'dashboard') return authorization === undefined ? null : this.sessions.authenticate(authorization);
    return null;
  }

  /** Guessing is slow work: past the limit an address hears 429 instead of 401. */
  async #countFailure(ip: string): Promise<void> {
    const { enabled, authFailuresPerMinute } = this.config.rateLimit;
    if (!enabled) return;
    const result = await takeForAddress(this.limiter, 'auth', ip, perMinute(authFailuresPerMinute));
    if (!result.allowed) await refuse(result);
  }
}

/** What a request writes beside its body: rows, events, deliveries. */
const BYTES_PER_WRITE = 1024;

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
    const taken = this.#take(context, http.getRequest<Request>());
    const result = taken instanceof Promise ? await taken : taken;
    if (result === null) return true;
    if (!result.allowed) await refuse(result);
    http.getResponse<Response>().set(rateLimitHeaders(result));
    await this.#takeTestData(http.getRequest<Request>());
    return true;
  }

  /** Test mode costs its account nothing, so that nothing else ends what a forgotten script writes to the disk. */
  async #takeTestData(request: Request): Promise<void> {
    const { principal } = request;
    if (principal?.kind !== 'api-key' || principal.mode !== 'test' || request.method === 'GET') return;
    const bytes = this.config.rateLimit.testModePerDay;
    const result = await this.limiter.take(
      `test-data:${principal.accountId}`,
      { rate: bytes / 86_400, burst: bytes },
      bodyBytesOf(request) + BYTES_PER_WRITE,
    );
    if (!result.allowed) await refuse(result, "The day's data of test mode are used up");
  }

  /** How large it is shows when it has been made. */
  #debitAnswer(response: Response, bucket: string): void {
    response.once(ANSWERED, (bytes: number) => {
      const tokens = answerTokensOf(bytes);
      if (tokens > 0) this.limiter.debit(bucket, this.config.rateLimit, tokens);
    });
  }

  #take(context: ExecutionContext, request: Request): RateLimitResult | Promise<RateLimitResult> | null {
    const { rate, burst, publicPerMinute } = this.config.rateLimit;
    if (request.principal) {
      // A large body and a dear question cost more than one token, but never more than a full bucket has.
      const asked = this.reflector.get<Cost | undefined>(COST, context.getHandler())?.(request.query) ?? 0;
      const cost = Math.min(bodyTokensOf(request) + (asked > 0 ? asked : 0), burst);
      const bucket = bucketOf(request.principal);
      this.#debitAnswer(context.switchToHttp().getResponse<Response>(), bucket);
      return this.limiter.take(bucket, { rate, burst }, cost);
    }
    const limit = this.reflector.get<IpLimit | undefined>(IP_LIMIT, context.getHandler());
    if (!limit) return null;
    const address = addressOf(request);
    if (limit.isForMachines === true && ['loopback', 'private'].includes(addressClass(address))) return null;
    const policy = perMinute(publicPerMinute * (limit.times ?? 1));
    return takeForAddress(this.limiter, `ip:${routeOf(request) ?? ''}`, address, policy);
  }
}

/** What the caller may do: roles of people, and for keys whether the route is of their world at all. */
@Injectable()
export class RoleGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly secondFactor: SecondFactorRule,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const { principal } = context.switchToHttp().getRequest<Request>();
    if (!principal) return true;
    const targets = [context.getHandler(), context.getClass()];
    if (principal.kind === 'api-key') {
      const testOnly = this.reflector.getAllAndOverride<boolean | undefined>(TEST_ONLY, targets) === true;
      if (testOnly && principal.mode !== 'test') throw notFound('route');
      return true;
    }
    const roles = this.reflector.getAllAndOverride<readonly DashboardRole[] | undefined>(ROLES, targets) ?? [];
    if (!roles.includes(principal.role)) {
      throw forbidden(
        `This needs the role ${roles.join(' or ')}; yours is ${principal.role}.`,
        this.reflector.getAllAndOverride<string | undefined>(ROLE_REFUSAL, targets),
      );
    }
    const isBefore = this.reflector.getAllAndOverride<boolean | undefined>(BEFORE_SECOND_FACTOR, targets) === true;
    if (principal.kind === 'operator' && !isBefore) this.secondFactor.check(principal);
    return true;
  }
}
