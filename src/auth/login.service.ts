import { Injectable } from '@nestjs/common';
import { type LoginUser, Passwords, UsersService } from '../accounts/index.js';
import { type Actor, AuditTrail, type Origin } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { ApiError } from '../core/errors/index.js';
import { LoginThrottle } from './login-throttle.service.js';
import type { UserPrincipal } from './principal.js';
import { Sessions } from './sessions.service.js';

export interface Login {
  readonly token: string;
  readonly user: LoginUser;
}

@Injectable()
export class LoginService {
  constructor(
    private readonly database: Database,
    private readonly users: UsersService,
    private readonly passwords: Passwords,
    private readonly throttle: LoginThrottle,
    private readonly sessions: Sessions,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * A wrong password and an e-mail that nobody has take the same steps: one look-up, one hash, one recorded event. Who
   * measures the time learns nothing.
   * @throws ApiError 401 `invalid_credentials`; 429 after too many tries for an e-mail from an address
   */
  async login(input: { email: string; password: string }, origin: Origin): Promise<Login> {
    const email = input.email.trim().toLowerCase();
    await this.throttle.take(email, origin);
    // Read before the look-up: what ends this user's tokens while the password is compared ends this one too.
    const began = this.clock.now();
    const user = await this.users.findLogin(email);
    const matches = await this.passwords.verify(user?.passwordHash ?? null, input.password);
    if (!user || !matches || !(user.operator || user.membership)) {
      await this.#recordFailure(email, user, origin);
      throw new ApiError(401, 'authentication_error', 'invalid_credentials', 'The e-mail or the password is wrong.');
    }
    const { passwordHash } = user;
    const outdated = passwordHash !== null && this.passwords.isOutdated(passwordHash) ? passwordHash : null;
    const renewed = outdated === null ? null : await this.passwords.hash(input.password);
    const { accountId, role } = user.membership ?? { accountId: null, role: 'OPERATOR' as const };
    const actor: Actor = { type: accountId === null ? 'operator' : 'member', id: user.id, ...origin };
    await this.database.transaction(async (tx) => {
      if (outdated !== null && renewed !== null) this.users.rehash(tx, user.id, outdated, renewed);
      this.audit.record(tx, actor, 'login.succeeded', accountId);
    });
    const token = this.sessions.open({ userId: user.id, accountId, role }, latest(began, user));
    return { token, user };
  }

  /** The token stops working at once, everywhere. */
  async logout(user: UserPrincipal, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      this.sessions.revoke(tx, user.session);
      this.audit.record(tx, actor, 'logout', user.kind === 'member' ? user.accountId : null);
    });
  }

  async #recordFailure(email: string, user: LoginUser | null, origin: Origin): Promise<void> {
    // Of an e-mail that nobody has, enough to see that it is tried again and again.
    const data = user ? { user_id: user.id } : { email_hash: this.throttle.hash(email).slice(0, 16) };
    const accountId = user?.membership?.accountId ?? null;
    await this.database.transaction(async (tx) => {
      this.audit.record(tx, { type: 'anonymous', id: null, ...origin }, 'login.failed', accountId, { data });
    });
  }
}

/** What a token is dated: by a process whose clock is behind, not before the user was let in at all. */
function latest(began: Date, { sessionsFrom, membership }: LoginUser): Date {
  const times = [began, sessionsFrom, membership?.createdAt].map((time) => time?.getTime() ?? 0);
  return new Date(Math.max(...times));
}
