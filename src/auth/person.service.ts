import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  AccountsService,
  normalizeEmail,
  PasswordChanges,
  Passwords,
  SecondFactor,
  type UserEntity,
  UsersService,
  wrongPassword,
} from '../accounts/index.js';
import type { Actor, Origin } from '../audit/index.js';
import { LoginThrottle } from './login-throttle.service.js';
import type { UserPrincipal } from './principal.js';
import { SecondFactorRule } from './second-factor-rule.service.js';

/** Least time of an answer: it must not reveal that a mail is written. */
const FORGOT_MS = 200;

export interface CurrentLogin {
  readonly person: UserPrincipal;
  readonly user: { readonly id: string; readonly email: string; readonly name: string };
  readonly account: { readonly id: string; readonly name: string } | null;
  readonly needsSecondFactor: boolean;
}

/**
 * Actions of people on their own login. Tries are limited: a stolen token must not open a way to guess the password.
 */
@Injectable()
export class PersonService {
  constructor(
    private readonly users: UsersService,
    private readonly accounts: AccountsService,
    private readonly factorRule: SecondFactorRule,
    private readonly passwords: Passwords,
    private readonly changes: PasswordChanges,
    private readonly secondFactor: SecondFactor,
    private readonly throttle: LoginThrottle,
  ) {}

  /** @throws ApiError 400 for a wrong current or a bad new password; 429 */
  async changePassword(user: UserPrincipal, input: { current: string; next: string }, actor: Actor): Promise<void> {
    const row = await this.users.get(user.userId);
    await this.throttle.take(row.email, row.id);
    if (!(await this.passwords.verify(row.passwordHash, input.current, { known: row.email }))) {
      throw wrongPassword('current_password');
    }
    await this.changes.changeOwn(row, user.sessionId, input.next, actor);
  }

  /** @throws ApiError 400, 429 */
  async rename({ userId }: UserPrincipal, name: string, actor: Actor): Promise<UserEntity> {
    await this.throttle.takeName(userId);
    return this.users.rename(userId, name, actor);
  }

  /** Takes the same time and gives the same answer whether or not the e-mail is known and a mail is sent. */
  async forgotPassword(email: string, origin: Origin): Promise<void> {
    const longEnough = wait(FORGOT_MS);
    if (await this.throttle.mayMail(normalizeEmail(email))) await this.changes.forgot(email, origin);
    await longEnough;
  }

  /** Returns the logged-in person with current data. */
  async current(person: UserPrincipal): Promise<CurrentLogin> {
    const user = await this.users.get(person.userId);
    const account = person.kind === 'member' ? await this.accounts.get(person.accountId) : null;
    return { person, user, account, needsSecondFactor: this.factorRule.keepsOut(person) };
  }

  /**
   * Requires the password: a stolen token alone must not lock its user out.
   * @throws ApiError 400 for a wrong one; 422, 429
   */
  async beginSecondFactor(
    { userId }: UserPrincipal,
    password: string,
  ): Promise<{ secret: string; uri: string; qr: string }> {
    await this.#checkPassword(userId, password);
    return this.secondFactor.begin(userId);
  }

  /** @throws ApiError 400, 422, 429 */
  async confirmSecondFactor({ userId, sessionId }: UserPrincipal, code: string, actor: Actor): Promise<string[]> {
    await this.throttle.takeCode(`${userId}/new`);
    return this.secondFactor.confirm(userId, sessionId, code, actor);
  }

  /** @throws ApiError 400 for a wrong password or code, 404 without a second factor, 429 */
  async removeSecondFactor(
    { userId }: UserPrincipal,
    { password, code }: { password: string; code: string },
    actor: Actor,
  ): Promise<void> {
    await this.#checkPassword(userId, password);
    await this.throttle.takeCode(userId);
    await this.secondFactor.remove(userId, code, actor);
  }

  async #checkPassword(userId: string, password: string): Promise<void> {
    const row = await this.users.get(userId);
    await this.throttle.take(row.email, row.id);
    if (!(await this.passwords.verify(row.passwordHash, password, { known: row.email })))
      throw wrongPassword('password');
  }
}
