import type { SessionEntity } from '../accounts/index.js';
import type { LoginBody, SessionListBody } from './dto/login.body.js';
import type { Login } from './login.service.js';
import { SESSION_SECONDS } from './sessions.service.js';

export function loginBody({ token, user }: Login): LoginBody {
  const { membership } = user;
  return {
    access_token: token,
    token,
    token_type: 'Bearer',
    expires_in: SESSION_SECONDS,
    user: { id: user.id, email: user.email, name: user.name },
    account: membership ? { id: membership.accountId, name: membership.accountName, role: membership.role } : null,
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
