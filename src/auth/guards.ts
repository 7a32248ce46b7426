import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { accountSuspended, AccountsService } from '../accounts/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { ApiError, forbidden, notFound, unauthorized } from '../core/errors/index.js';
import {
  addressOf,
  ANSWERED,
  answerTokensOf,
  bodyBytesOf,
  bodyTokensOf,
  isRead,
  PARSED,
  routeOf,
  valueTokensOf,
} from '../core/http/index.js';
import { addressClass } from '../core/net/index.js';
import {
  perMinute,
  type RateLimitPolicy,
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
  DOOR_ONLY,
  NEEDS_SECOND_FACTOR,
  IP_LIMIT,
  type IpLimit,
  OPEN_TO_MEMBERS,
  ROLE_REFUSAL,
  ROLES,
  TEST_ONLY,
} from './access.decorators.js';
import { Authenticators } from './authenticators.service.js';
import { bucketOf, type DashboardRole, modeOf, type Principal, type UserPrincipal } from './principal.js';
import { SecondFactorRule } from './second-factor-rule.service.js';
import { SessionCookie } from './session-cookie.service.js';
import { Sessions } from './sessions.service.js';

/**
 * Authenticates the caller. Three guards stand before every route in the order of docs/contract.md#order-of-checks:
 * this guard, `RateLimitGuard` and `RoleGuard`. A route without an access decorator is closed, and each route takes one
 * kind of credential: an API key, or a login. Through the dashboard's door, `/v1/dashboard/{test|live}/…`, logged-in
 * people use the routes of API keys; it leads to no other routes.
 *
 * If an operator has suspended an account, its API keys are refused. The account's people can still log in and read.
 */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly reflector: Reflector,
    private readonly authenticators: Authenticators,
    private readonly sessions: Sessions,
    private readonly cookies: SessionCookie,
    private readonly accounts: AccountsService,
    private readonly limiter: RateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, targets);
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (request.door !== undefined && access !== 'api-key') {
      await this.#countFailure(request);
      throw notFound('route');
    }
    if (access === 'public') return true;
    const principal = await this.#authenticate(access, request, http.getResponse<Response>()).catch(
      async (error: unknown) => {
        // A valid key that is refused (ended, another address, suspended) counts as a failure, like an unknown key.
        if (error instanceof ApiError && error.status < 500) await this.#countFailure(request);
        throw error;
      },
    );
    const credential = access === 'dashboard' || request.door !== undefined ? 'dashboard' : 'api-key';
    if (!principal) {
      await this.#countFailure(request);
      throw unauthorized(credential);
    }
    request.principal = principal;
    // If a body came long after its headers (`core/http/body.ts`), the key or session may have ended meanwhile.
    request.admitAgain = async () => {
      const now = await this.#authenticate(access, request, http.getResponse<Response>());
      if (!now) throw unauthorized(credential);
      if (now.kind !== 'api-key' && principal.kind !== 'api-key' && now.role !== principal.role) {
        throw forbidden('Your role has changed while the body was coming; repeat the request.');
      }
    };
    if (principal.kind === 'api-key') return true;
    request.callerForLog = {
      userId: principal.userId,
      ...(principal.kind === 'member' ? { accountId: principal.accountId } : {}),
      ...(request.door === undefined ? {} : { mode: request.door }),
    };
    return true;
  }

  async #authenticate(access: Access | undefined, request: Request, response: Response): Promise<Principal | null> {
    const { apikey } = request.headers;
    const { door } = request;
    if (access === 'dashboard') return this.#person(request, response);
    if (access !== 'api-key') return null;
    if (door === undefined) return typeof apikey === 'string' ? this.#apiKey(apikey, request) : null;
    const person = await this.#person(request, response);
    if (person?.kind !== 'member') return person;
    const account = await this.accounts.get(person.accountId);
    if (account.suspended && !isRead(request)) throw accountSuspended();
    return { ...person, door: { mode: door, account } };
  }

  /** A valid key that is refused appears in its account's request log: the owner sees that somebody has it. */
  async #apiKey(apikey: string, request: Request): Promise<Principal | null> {
    const known = await this.authenticators.apiKey(apikey, addressOf(request));
    if (known === null) return null;
    const { accountId, mode, fingerprint } = known.principal;
    request.callerForLog = { accountId, mode, apiKeyFingerprint: fingerprint };
    if (known.refusal !== null) throw known.refusal;
    return known.principal;
  }

  /**
   * Authenticates a person: a program sends its token, a browser its cookie. The cookie is renewed while it is used.
   */
  async #person(request: Request, response: Response): Promise<UserPrincipal | null> {
    const { authorization, cookie } = request.headers;
    if (authorization !== undefined) return this.sessions.authenticate(authorization);
    const token = this.cookies.read(cookie);
    if (token === null) return null;
    if (!isRead(request)) this.cookies.assertOwnPage(request);
    const session = await this.sessions.authenticateCookie(token);
    if (session !== null && session.renewed !== null) this.cookies.set(response, session.renewed);
    return session === null ? null : session.person;
  }

  /**
   * Slows down guessing: above the limit, an address gets 429 instead of the refusal, and no account logs the request.
   */
  async #countFailure(request: Request): Promise<void> {
    const { enabled, authFailuresPerMinute } = this.config.rateLimit;
    if (!enabled) return;
    const result = await takeForAddress(this.limiter, 'auth', addressOf(request), perMinute(authFailuresPerMinute));
    if (result.allowed) return;
    delete request.callerForLog;
    await refuse(result);
  }
}

/**
 * Factor for monitoring, which asks often. A limit stays: behind a proxy missing from `TRUST_PROXY`, strangers have the
 * proxy's address.
 */
const MACHINES_TIMES = 20;
/** Share of an API key's rate that a person has. */
const PERSONS_PART = 1 / 4;
/** Bytes that a request writes beside its body: rows, events, deliveries. */
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

  /**
   * Limits the data that an account writes in test mode: test mode is free, so nothing else would stop a forgotten
   * script.
   */
  async #takeTestData(request: Request): Promise<void> {
    const { principal } = request;
    if (!principal || principal.kind === 'operator' || modeOf(principal) !== 'test' || isRead(request)) return;
    const bytes = this.config.rateLimit.testModePerDay;
    const result = await this.limiter.take(
      `test-data:${principal.accountId}`,
      { rate: bytes / 86_400, burst: bytes },
      bodyBytesOf(request) + BYTES_PER_WRITE,
    );
    if (!result.allowed) await refuse(result, "The day's data of test mode are used up");
  }

  /**
   * Debits costs known later: the number of values after the body is read, the size of the answer after it is made.
   */
  #debitLater(request: Request, response: Response, bucket: string, policy: RateLimitPolicy): void {
    const debit = (tokens: number): void => {
      if (tokens > 0) this.limiter.debit(bucket, policy, tokens);
    };
    request.once(PARSED, (values: number) => debit(valueTokensOf(values)));
    response.once(ANSWERED, (bytes: number) => debit(answerTokensOf(bytes)));
  }

  #take(context: ExecutionContext, request: Request): RateLimitResult | Promise<RateLimitResult> | null {
    const { rate, burst, publicPerMinute } = this.config.rateLimit;
    if (request.principal) {
      // A large body and a dear question cost more than one token, but never more than a full bucket has.
      const asked = this.reflector.get<Cost | undefined>(COST, context.getHandler())?.(request.query) ?? 0;
      const cost = bodyTokensOf(request) + (asked > 0 ? asked : 0);
      const bucket = bucketOf(request.principal);
      const part = request.principal.kind === 'api-key' ? 1 : PERSONS_PART;
      const policy = { rate: rate * part, burst: Math.max(burst * part, 1) };
      this.#debitLater(request, context.switchToHttp().getResponse<Response>(), bucket, policy);
      return this.limiter.take(bucket, policy, Math.min(cost, policy.burst));
    }
    const limit = this.reflector.get<IpLimit | undefined>(IP_LIMIT, context.getHandler());
    if (!limit) return null;
    const address = addressOf(request);
    const isMachine = limit.isForMachines === true && ['loopback', 'private'].includes(addressClass(address));
    const policy = perMinute(publicPerMinute * (limit.times ?? 1) * (isMachine ? MACHINES_TIMES : 1));
    return takeForAddress(this.limiter, `ip:${routeOf(request) ?? ''}`, address, policy);
  }
}

/**
 * Checks the caller's rights: people by their role, API keys may do everything. Routes of test mode are unknown to live
 * callers.
 */
@Injectable()
export class RoleGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly secondFactor: SecondFactorRule,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const { principal } = request;
    if (!principal) return true;
    const targets = [context.getHandler(), context.getClass()];
    const mode = modeOf(principal);
    const testOnly = this.reflector.getAllAndOverride<boolean | undefined>(TEST_ONLY, targets) === true;
    if (testOnly && mode !== null && mode !== 'test') throw notFound('route');
    if (principal.kind === 'api-key') {
      if (this.#doorRoles(context) !== undefined) throw notFound('route');
      return true;
    }
    const roles =
      request.door === undefined
        ? (this.reflector.getAllAndOverride<readonly DashboardRole[] | undefined>(ROLES, targets) ?? [])
        : this.#rolesAtDoor(request, context);
    if (!roles.includes(principal.role)) {
      throw forbidden(
        `This needs the role ${roles.join(' or ')}; yours is ${principal.role}.`,
        this.reflector.getAllAndOverride<string | undefined>(ROLE_REFUSAL, targets),
      );
    }
    const isBefore = this.reflector.getAllAndOverride<boolean | undefined>(BEFORE_SECOND_FACTOR, targets) === true;
    const isNeeded = this.reflector.get<boolean | undefined>(NEEDS_SECOND_FACTOR, context.getHandler()) === true;
    if ((principal.kind === 'operator' && !isBefore) || isNeeded || this.#movesMoney(request, context)) {
      this.secondFactor.check(principal);
    }
    return true;
  }

  /**
   * Returns whether a person writes live data on a route that members may not use. Like issuing keys, it needs a second
   * factor.
   */
  #movesMoney(request: Request, context: ExecutionContext): boolean {
    return request.door === 'live' && !isRead(request) && !this.#isOpenToMembers(context);
  }

  #isOpenToMembers(context: ExecutionContext): boolean {
    return this.reflector.get<boolean | undefined>(OPEN_TO_MEMBERS, context.getHandler()) === true;
  }

  /** Returns the roles that a route at the door only names; undefined for other routes. */
  #doorRoles(context: ExecutionContext): readonly DashboardRole[] | undefined {
    return this.reflector.get<readonly DashboardRole[] | undefined>(DOOR_ONLY, context.getHandler());
  }

  #rolesAtDoor(request: Request, context: ExecutionContext): readonly DashboardRole[] {
    const named = this.#doorRoles(context) ?? [];
    if (named.length > 0) return named;
    return isRead(request) || this.#isOpenToMembers(context) ? ['OWNER', 'ADMIN', 'MEMBER'] : ['OWNER', 'ADMIN'];
  }
}
