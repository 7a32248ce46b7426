import { Injectable, type OnModuleInit } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { Clock, CLOCK_SKEW_SECONDS, hourOf } from '../core/clock.js';
import { UsersService } from '../accounts/index.js';
import { type Actor, AuditTrail, type Origin } from '../audit/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { notFound } from '../core/errors/index.js';
import { isUuid, newId } from '../core/ids.js';
import type { DashboardRole, UserPrincipal } from './principal.js';
import type { SessionEntity } from './session.entity.js';
import { SessionsRepository } from './sessions.repository.js';

export const SESSION_SECONDS = 3600;
/** Age at which a cookie's token is renewed by a request; the login then continues for an hour. */
const RENEWED_AFTER_SECONDS = 600;
/** Longest login, however much it is used. */
const LONGEST_MS = 12 * 3_600_000;
const MAX_USER_AGENT = 120;
const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const ROLES: readonly unknown[] = ['OWNER', 'ADMIN', 'MEMBER', 'OPERATOR'] satisfies DashboardRole[];

/** Claims of a token (docs/contract.md#login). `role` is for the dashboard only: rights are read from the database. */
interface Claims {
  readonly sub: string;
  readonly account_id: string | null;
  readonly role: DashboardRole;
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
  /** Whether the token comes as a cookie, and in no header. */
  readonly cookie: boolean;
}

/** Storage of a login's token: by a program, or by a browser as a cookie that no script reads. */
export type SessionKind = 'token' | 'cookie';

/**
 * Logins as signed tokens (HS256). A token names a session; the database decides whether it continues, and for which
 * user.
 */
@Injectable()
export class Sessions implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionsRepository,
    private readonly users: UsersService,
    private readonly jwt: JwtService,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.users.whenSessionsEnd((tx, userId, except) => this.sessions.endAll(tx, userId, except));
  }

  /** Records the login. @returns the token, good for SESSION_SECONDS from now on, after `tx` has committed */
  open(
    tx: Tx,
    user: { userId: string; accountId: string | null; role: DashboardRole },
    origin: Origin,
    userAgent: string | undefined,
    kind: SessionKind,
  ): string {
    const now = this.clock.now();
    const iat = Math.floor(now.getTime() / 1000);
    const { userId, accountId, role } = user;
    const id = newId(now);
    const actor: Actor = { type: accountId === null ? 'operator' : 'member', id: userId, ...origin };
    this.audit.record(tx, actor, 'login.succeeded', accountId);
    this.sessions.insert(tx, {
      id,
      userId,
      accountId,
      createdAt: now,
      usedAt: hourOf(now),
      expiresAt: new Date((iat + SESSION_SECONDS) * 1000),
      ip: origin.ip,
      userAgent: userAgent?.slice(0, MAX_USER_AGENT) ?? null,
    });
    return this.#sign({ sub: userId, account_id: accountId, role, jti: id, iat, cookie: kind === 'cookie' });
  }

  /** Newest first. */
  list({ userId }: UserPrincipal): Promise<SessionEntity[]> {
    return this.sessions.list(userId, this.clock.now());
  }

  /** Ends this login: the token stops working at once, everywhere. */
  async logout(user: UserPrincipal, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.sessions.end(tx, user.sessionId, user.userId);
      this.audit.record(tx, actor, 'logout', accountOf(user));
    });
  }

  /** Ends another login of the user. @throws ApiError 404 for a login of somebody else */
  async end(user: UserPrincipal, id: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      if (!(await this.sessions.end(tx, id, user.userId))) throw notFound('session');
      this.audit.record(tx, actor, 'session.ended', accountOf(user), { data: { session_id: id } });
    });
  }

  #sign(claims: Omit<Claims, 'exp'>): string {
    const { cookie, ...rest } = claims;
    return this.jwt.sign({ ...rest, exp: claims.iat + SESSION_SECONDS, ...(cookie ? { cookie } : {}) });
  }

  /**
   * @param authorization the header, unchanged
   * @returns null unless the token is ours, in its time, not ended, and its user is still let in
   */
  async authenticate(authorization: string): Promise<UserPrincipal | null> {
    const token = BEARER.exec(authorization)?.[1];
    const claims = token === undefined ? null : this.#verify(token);
    if (!claims || claims.cookie) return null;
    return (await this.#holder(claims))?.person ?? null;
  }

  /**
   * @param token of a cookie
   * @returns null as `authenticate`; with a new token when renewal is due
   */
  async authenticateCookie(token: string): Promise<{ person: UserPrincipal; renewed: string | null } | null> {
    const claims = this.#verify(token);
    if (!claims?.cookie) return null;
    const holder = await this.#holder(claims);
    if (!holder) return null;
    const { person, createdAt } = holder;
    const iat = Math.floor(this.clock.now().getTime() / 1000);
    const expiresAt = new Date((iat + SESSION_SECONDS) * 1000);
    if (iat - claims.iat < RENEWED_AFTER_SECONDS || expiresAt.getTime() - createdAt.getTime() > LONGEST_MS) {
      return { person, renewed: null };
    }
    await this.database.transaction(async (tx) => this.sessions.prolong(tx, claims.jti, expiresAt));
    return { person, renewed: this.#sign({ ...claims, iat }) };
  }

  /** Returns the current person of a login; null when it was ended, or the person is no longer let in. */
  async #holder(claims: Claims): Promise<{ person: UserPrincipal; createdAt: Date } | null> {
    const { sub: userId, account_id: accountId, jti: sessionId } = claims;
    const found = await this.sessions.find(sessionId, userId, accountId);
    if (!found) return null;
    const hour = hourOf(this.clock.now());
    // Written at most once an hour: all other requests of a person only read.
    if (found.usedAt < hour) {
      await this.database.transaction(async (tx) => this.sessions.touch(tx, sessionId, hour));
    }
    const { operator, role, hasSecondFactor, createdAt } = found;
    const login = { userId, sessionId, hasSecondFactor };
    if (accountId === null)
      return operator ? { person: { kind: 'operator', role: 'OPERATOR', ...login }, createdAt } : null;
    return role === null ? null : { person: { kind: 'member', accountId, role, door: null, ...login }, createdAt };
  }

  #verify(token: string): Claims | null {
    const now = Math.floor(this.clock.now().getTime() / 1000);
    let payload: Partial<Record<keyof Claims, unknown>>;
    try {
      payload = this.jwt.verify<Partial<Record<keyof Claims, unknown>>>(token, { clockTimestamp: now });
    } catch {
      return null;
    }
    // The library verifies claims that are present; the code below requires them to be present.
    const { sub, account_id, role, jti, iat, exp, cookie = false } = payload;
    if (!isUuid(sub) || !isUuid(jti) || !(account_id === null || isUuid(account_id))) return null;
    if (!ROLES.includes(role) || (role === 'OPERATOR') !== (account_id === null)) return null;
    if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp) || typeof cookie !== 'boolean') return null;
    const claims = { sub, account_id, role, jti, iat, exp, cookie } as Claims;
    // Clocks of our own machines differ; a token from the far future is a forgery.
    if (claims.iat > now + CLOCK_SKEW_SECONDS || claims.exp - claims.iat !== SESSION_SECONDS) return null;
    return claims;
  }
}

function accountOf(user: UserPrincipal): string | null {
  return user.kind === 'member' ? user.accountId : null;
}
