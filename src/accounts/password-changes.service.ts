import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Actor, Origin } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import { type ApiError, badRequest, invalidRequest, notFound } from '../core/errors/index.js';
import type { UserEntity } from './user.entity.js';
import { normalizeEmail } from './email-address.js';
import { Passwords } from './passwords.service.js';
import { PersonMails } from './person-mails.service.js';
import { UsersRepository } from './users.repository.js';
import { tokenHashOf, UsersService } from './users.service.js';

const RESET_MS = 3_600_000;

/**
 * Sets new passwords: for users who know the old one, have the token of a mail, or ask the operator of the service.
 */
@Injectable()
export class PasswordChanges {
  constructor(
    private readonly database: Database,
    private readonly users: UsersRepository,
    private readonly people: UsersService,
    private readonly passwords: Passwords,
    private readonly mails: PersonMails,
    private readonly clock: Clock,
  ) {}

  /**
   * Changes a lost or stolen password: the user's tokens stop working at once.
   * @throws ApiError 400; 404 for an e-mail without a login
   */
  async change(input: { email: string; password: string }, actor: Actor): Promise<{ userId: string }> {
    const email = normalizeEmail(input.email);
    const violations = await this.passwords.check(input.password, { email });
    if (violations.length > 0) throw invalidRequest(violations);
    const passwordHash = await this.passwords.hash(input.password);
    return this.database.transaction(async (tx) => {
      const user = await this.people.lockWhoLogsIn(tx, email);
      if (!user) throw notFound('user who can log in');
      await this.#replace(tx, user, passwordHash, null, actor);
      return { userId: user.id };
    });
  }

  /**
   * Changes the user's own password, after the old one was compared. Ends the user's other logins.
   * @throws ApiError 400 for a bad new password, or when the old one was changed meanwhile
   */
  async changeOwn(before: UserEntity, sessionId: string, password: string, actor: Actor): Promise<void> {
    const violations = await this.passwords.check(password, before, 'new_password');
    if (violations.length > 0) throw invalidRequest(violations);
    const passwordHash = await this.passwords.hash(password);
    await this.database.transaction(async (tx) => {
      const user = await this.users.lock(tx, before.id);
      if (user?.passwordHash !== before.passwordHash) throw wrongPassword('current_password');
      await this.#replace(tx, user, passwordHash, sessionId, actor);
    });
  }

  /** Mails a token, good for an hour and once, if a user logs in with this e-mail; otherwise does nothing. */
  async forgot(email: string, origin: Origin): Promise<void> {
    await this.database.transaction(async (tx) => {
      const user = await this.people.lockWhoLogsIn(tx, normalizeEmail(email));
      if (!user) return;
      const token = randomBytes(32).toString('base64url');
      const expiresAt = new Date(this.clock.now().getTime() + RESET_MS);
      this.users.putReset(tx, { userId: user.id, tokenHash: tokenHashOf(token), expiresAt });
      this.mails.passwordReset(tx, user.email, token, expiresAt);
      await this.people.recordFor(tx, user, 'user.password_forgotten', { type: 'anonymous', id: null, ...origin });
    });
  }

  /**
   * Sets a password by the token of the mail, which is looked up before anything is hashed. Ends all logins of the
   * user.
   * @throws ApiError 400
   */
  async reset(input: { token: string; password: string }, origin: Origin): Promise<void> {
    const tokenHash = tokenHashOf(input.token);
    const found = await this.users.findReset(tokenHash, this.clock.now());
    if (!found) throw resetOver();
    const violations = await this.passwords.check(input.password, await this.people.get(found.userId));
    if (violations.length > 0) throw invalidRequest(violations);
    const passwordHash = await this.passwords.hash(input.password);
    await this.database.transaction(async (tx) => {
      const user = await this.users.lock(tx, found.userId);
      if (!user || !(await this.users.takeReset(tx, tokenHash, user.id, this.clock.now()))) throw resetOver();
      const type = user.operator ? 'operator' : 'member';
      await this.#replace(tx, user, passwordHash, null, { type, id: user.id, ...origin });
    });
  }

  /** @param sessionId the login that continues; null: all end */
  async #replace(
    tx: Tx,
    user: UserEntity,
    passwordHash: string,
    sessionId: string | null,
    actor: Actor,
  ): Promise<void> {
    this.users.setPassword(tx, user.id, passwordHash);
    this.users.endReset(tx, user.id);
    this.people.endSessions(tx, user.id, sessionId);
    this.mails.news(tx, user.email, 'password_changed');
    await this.people.recordFor(tx, user, 'user.password_changed', actor);
  }
}

export function wrongPassword(param: string): ApiError {
  return badRequest('invalid_request', 'This is not your password.', param);
}

function resetOver(): ApiError {
  return badRequest('invalid_request', 'This token is not valid any more; ask for another mail.', 'token');
}
