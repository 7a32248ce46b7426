import { Injectable, type OnModuleInit } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { Clock, CLOCK_SKEW_SECONDS } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { isUuid, newId } from '../core/ids.js';
import { Retention } from '../core/retention.js';
import type { DashboardRole, Session, UserPrincipal } from './principal.js';
import { SessionsRepository } from './sessions.repository.js';

export const SESSION_SECONDS = 3600;
const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const ROLES: readonly unknown[] = ['OWNER', 'ADMIN', 'MEMBER', 'OPERATOR'] satisfies DashboardRole[];

/** Claims of a token (docs/contract.md#login). `role` is for the dashboard: what may be done is asked of the database. */
interface Claims {
  readonly sub: string;
  readonly account_id: string | null;
  readonly role: DashboardRole;
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
}

/** Logins as signed tokens (HS256): they say who somebody is, the database says whether that still holds. */
@Injectable()
export class Sessions implements OnModuleInit {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly jwt: JwtService,
    private readonly retention: Retention,
    private readonly clock: Clock,
  ) {}

  /** Tokens that have ended by themselves are forgotten, also for a process whose clock is behind. */
  onModuleInit(): void {
    this.retention.keep('revoked_tokens', CLOCK_SKEW_SECONDS * 1000, (tx, before, limit) =>
      this.sessions.remove(tx, before, limit),
    );
  }

  /**
   * @param from since when the user is let in, or now, whichever is later
   * @returns the token, good for SESSION_SECONDS from then on
   */
  open(user: { userId: string; accountId: string | null; role: DashboardRole }, from: Date): string {
    const iat = Math.floor(from.getTime() / 1000);
    const claims: Claims = {
      sub: user.userId,
      account_id: user.accountId,
      role: user.role,
      jti: newId(from),
      iat,
      exp: iat + SESSION_SECONDS,
    };
    return this.jwt.sign(claims);
  }

  /**
   * @param authorization the header as it came
   * @returns null for everything but a token of ours, in its time, not ended, of somebody who is still let in
   */
  async authenticate(authorization: string): Promise<UserPrincipal | null> {
    const token = BEARER.exec(authorization)?.[1];
    const claims = token === undefined ? null : this.#verify(token);
    if (!claims) return null;
    const found = await this.sessions.find({
      userId: claims.sub,
      accountId: claims.account_id,
      jti: claims.jti,
      givenBefore: new Date((claims.iat + 1) * 1000),
    });
    if (!found || found.revoked) return null;
    const session: Session = { jti: claims.jti, expiresAt: new Date(claims.exp * 1000) };
    if (claims.account_id === null) {
      return found.operator ? { kind: 'operator', userId: claims.sub, role: 'OPERATOR', session } : null;
    }
    if (found.role === null) return null;
    return { kind: 'member', userId: claims.sub, accountId: claims.account_id, role: found.role, session };
  }

  /** Holds in every process from the commit on. */
  revoke(tx: Tx, session: Session): void {
    this.sessions.revoke(tx, session);
  }

  #verify(token: string): Claims | null {
    const now = Math.floor(this.clock.now().getTime() / 1000);
    let payload: Partial<Record<keyof Claims, unknown>>;
    try {
      payload = this.jwt.verify<Partial<Record<keyof Claims, unknown>>>(token, { clockTimestamp: now });
    } catch {
      return null;
    }
    // The library checks what is there; here is checked that it is there.
    const { sub, account_id, role, jti, iat, exp } = payload;
    if (!isUuid(sub) || !isUuid(jti) || !(account_id === null || isUuid(account_id))) return null;
    if (!ROLES.includes(role) || (role === 'OPERATOR') !== (account_id === null)) return null;
    if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp)) return null;
    const claims = { sub, account_id, role, jti, iat, exp } as Claims;
    // Clocks of our own machines differ; a token of the far future is a forgery.
    if (claims.iat > now + CLOCK_SKEW_SECONDS || claims.exp - claims.iat !== SESSION_SECONDS) return null;
    return claims;
  }
}
