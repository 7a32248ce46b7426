import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Actor, type AuditEventType, AuditTrail } from '../audit/index.js';
import { Clock, DAY_MS } from '../core/clock.js';
import { Database, type Tx, uniqueViolation } from '../core/database/index.js';
import { type ApiError, badRequest, invalidRequest, notFound, type Violation } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import type { UserEntity } from './user.entity.js';
import { checkEmail, normalizeEmail } from './email-address.js';
import { MembersRepository } from './members.repository.js';
import { Passwords } from './passwords.service.js';
import { isName } from './settings.js';
import { type LoginUser, type NewUser, UsersRepository } from './users.repository.js';

/** Ends all sessions of a user but `except`. */
type SessionsEnd = (tx: Tx, userId: string, except: string | null) => void;

/** Users who can log in: people of accounts, and the staff of the platform. */
@Injectable()
export class UsersService {
  // Fails closed: without `auth` a changed password would leave the logins of a thief open.
  #endSessions: SessionsEnd = () => {
    throw new Error('No module has registered how sessions end');
  };

  constructor(
    private readonly database: Database,
    private readonly users: UsersRepository,
    private readonly members: MembersRepository,
    private readonly passwords: Passwords,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Registers how sessions end: `auth` has them, and accounts does not know it. */
  whenSessionsEnd(end: SessionsEnd): void {
    this.#endSessions = end;
  }

  /**
   * Ends all sessions under the user's lock, so that no login based on the old state survives.
   * @param except continues
   */
  endSessions(tx: Tx, userId: string, except: string | null): void {
    this.#endSessions(tx, userId, except);
  }

  findLogin(email: string): Promise<LoginUser | null> {
    return this.users.findLogin(email);
  }

  /** Returns e-mails by user id, for lists that show who did something. */
  emails(ids: readonly string[]): Promise<Map<string, string>> {
    return this.users.emails(ids);
  }

  /** Returns names by user id; the e-mail stands for a missing name. */
  names(ids: readonly string[]): Promise<Map<string, string>> {
    return this.users.names(ids);
  }

  /** Returns the e-mails of all operators. */
  operatorEmails(): Promise<string[]> {
    return this.users.operatorEmails();
  }

  /** Stores the same password at another cost; a password that was changed meanwhile stays as it is. */
  rehash(tx: Tx, id: string, oldHash: string, newHash: string): void {
    this.users.rehash(tx, id, oldHash, newHash);
  }

  /**
   * Makes a user with this e-mail. If a user of this e-mail was removed from every account, restores them with this
   * name and password. Only one of two calls at once gets the e-mail.
   * @returns the id of the user, locked until the end of `tx`
   * @throws ApiError 400 when the e-mail is taken
   */
  async claim(tx: Tx, user: Omit<NewUser, 'id' | 'createdAt'>): Promise<string> {
    const now = this.clock.now();
    const known = await this.users.lockByEmail(tx, user.email);
    if (!known) {
      const id = newId(now);
      this.users.insert(tx, { ...user, id, createdAt: now });
      return id;
    }
    // Use a second statement: the one that waited for the lock does not see commits from meanwhile.
    if (known.operator || (await this.members.accountsOf(tx, known.id)).length > 0) throw emailTaken();
    this.users.renew(tx, known.id, user);
    this.users.endReset(tx, known.id);
    this.endSessions(tx, known.id, null);
    return known.id;
  }

  /** Platform staff: a user without an account (docs/contract.md#roles). @throws ApiError 400 with every violation */
  async createOperator(input: { email: string; password: string }, actor: Actor): Promise<{ userId: string }> {
    const email = normalizeEmail(input.email);
    const violations = [...checkEmail(email), ...(await this.passwords.check(input.password, { email }))];
    if (violations.length > 0) throw invalidRequest(violations);
    const passwordHash = await this.passwords.hash(input.password);
    return unlessEmailTaken(() =>
      this.database.transaction(async (tx) => {
        const userId = await this.claim(tx, { email, name: email, passwordHash, operator: true });
        this.audit.record(tx, actor, 'operator.created', null, { data: { user_id: userId } });
        return { userId };
      }),
    );
  }

  /**
   * Removes an operator, whose tokens stop working at once; the user stays, as the audit trail names them.
   * @throws ApiError 404
   */
  async removeOperator(email: string, actor: Actor): Promise<{ userId: string }> {
    return this.database.transaction(async (tx) => {
      const user = await this.users.lockByEmail(tx, normalizeEmail(email));
      if (!user?.operator) throw notFound('operator');
      this.users.dismiss(tx, user.id);
      this.users.endReset(tx, user.id);
      this.endSessions(tx, user.id, null);
      this.audit.record(tx, actor, 'operator.removed', null, { data: { user_id: user.id } });
      return { userId: user.id };
    });
  }

  /** @throws ApiError 404 */
  async get(id: string): Promise<UserEntity> {
    const user = await this.users.find(id);
    if (!user) throw notFound('user');
    return user;
  }

  /**
   * Checks that the data read by a login still hold, and keeps them until the end of `tx`.
   * @returns the current user; null when the password or the membership has changed
   */
  async confirmLogin(tx: Tx, { id, passwordHash, membership }: LoginUser): Promise<UserEntity | null> {
    const user = await this.users.lock(tx, id);
    if (user?.passwordHash !== passwordHash) return null;
    const isLetIn = membership ? (await this.members.hold(tx, membership.accountId, id)) !== null : user.operator;
    return isLetIn ? user : null;
  }

  /** @returns the changed user @throws ApiError 400 */
  async rename(id: string, name: string, actor: Actor): Promise<UserEntity> {
    const violations = checkName(name);
    if (violations.length > 0) throw invalidRequest(violations);
    return this.database.transaction(async (tx) => {
      const user = await this.users.lock(tx, id);
      if (!user) throw notFound('user');
      if (name === user.name) return user;
      this.users.rename(tx, id, name);
      await this.recordFor(tx, user, 'user.renamed', actor);
      return { ...user, name };
    });
  }

  /** @returns the e-mail of a user to be warned about failed logins; null after a warning in the last 24 hours */
  async claimWarning(tx: Tx, id: string): Promise<string | null> {
    const now = this.clock.now();
    return this.users.warn(tx, id, now, new Date(now.getTime() - DAY_MS));
  }

  /** Locks the user who logs in with this e-mail until the end of `tx`; null: there is none. */
  async lockWhoLogsIn(tx: Tx, email: string): Promise<UserEntity | null> {
    const user = await this.users.lockByEmail(tx, email);
    if (!user || user.passwordHash === null) return null;
    return user.operator || (await this.members.accountsOf(tx, user.id)).length > 0 ? user : null;
  }

  /**
   * Records an event of a person in the audit trail of each of their accounts; for an operator, without an account.
   */
  async recordFor(tx: Tx, user: UserEntity, type: AuditEventType, actor: Actor): Promise<void> {
    for (const accountId of user.operator ? [null] : await this.members.accountsOf(tx, user.id)) {
      this.audit.record(tx, actor, type, accountId, { data: { user_id: user.id } });
    }
  }
}

export function checkName(name: string | null): Violation[] {
  return name === null || isName(name, 120)
    ? []
    : [{ param: 'name', code: 'invalid', message: 'must have 1 to 120 characters on one line' }];
}

/**
 * Returns the hash of a token that is only in a mail. The token has 256 random bits, so a plain hash cannot be guessed.
 */
export function tokenHashOf(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

function emailTaken(): ApiError {
  return badRequest('invalid_request', 'A user with this e-mail exists already.', 'email');
}

/** Turns the unique violation into an answer, if two requests take the same new e-mail at once. */
export async function unlessEmailTaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw uniqueViolation(error) === 'users_email_key' ? emailTaken() : error;
  }
}
