import type { LoginBody } from './dto/login.body.js';
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
