import type { CurrentSessionBody, LoginBody, LoginUserBody, SessionListBody } from './dto/login.body.js';
import type { Login } from './login.service.js';
import type { CurrentLogin } from './person.service.js';
import type { SessionEntity } from './session.entity.js';
import { SESSION_SECONDS, type SessionKind } from './sessions.service.js';

export function loginUser({ id, email, name }: LoginUserBody): LoginUserBody {
  return { id, email, name };
}

/** @param kind `cookie`: what logs in is in the cookie, and nowhere else */
export function loginBody({ token, user }: Login, kind: SessionKind): LoginBody {
  const { membership } = user;
  return {
    ...(kind === 'token' ? { access_token: token, token, token_type: 'Bearer' } : {}),
    expires_in: SESSION_SECONDS,
    user: loginUser(user),
    account: membership ? { id: membership.accountId, name: membership.accountName, role: membership.role } : null,
  };
}

export function currentSession({ user, account, person, needsSecondFactor }: CurrentLogin): CurrentSessionBody {
  return {
    object: 'session',
    id: person.sessionId,
    role: person.role,
    second_factor: person.hasSecondFactor,
    second_factor_required: needsSecondFactor,
    user: loginUser(user),
    account: account === null ? null : { id: account.id, name: account.name },
  };
}

export function sessionList(sessions: readonly SessionEntity[], currentId: string): SessionListBody {
  return {
    object: 'list',
    data: sessions.map((session) => ({
      id: session.id,
      object: 'session',
      current: session.id === currentId,
      created_at: session.createdAt.toISOString(),
      last_used_at: session.usedAt.toISOString(),
      expires_at: session.expiresAt.toISOString(),
      ip: session.ip,
      user_agent: session.userAgent,
    })),
  };
}
