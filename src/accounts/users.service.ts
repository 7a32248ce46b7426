import { Injectable } from '@nestjs/common';
import { isEmail } from 'class-validator';
import { type Actor, AuditTrail, SYSTEM } from '../audit/index.js';
import { Clock, CLOCK_SKEW_SECONDS } from '../core/clock.js';
import { Database, type Tx, uniqueViolation } from '../core/database/index.js';
import { type ApiError, badRequest, invalidRequest, notFound, type Violation } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import { MembersRepository } from './members.repository.js';
import { Passwords } from './passwords.service.js';
import { type LoginUser, type NewUser, UsersRepository } from './users.repository.js';

/** Who can log in: e-mails, passwords, and the staff of the platform. */
@Injectable()
export class UsersService {
  constructor(
    private readonly database: Database,
    private readonly users: UsersRepository,
    private readonly members: MembersRepository,
    private readonly passwords: Passwords,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  findLogin(email: string): Promise<LoginUser | null> {
    return this.users.findLogin(email);
  }

  /** E-mails by user id, for what shows who did something. */
  emails(ids: readonly string[]): Promise<Map<string, string>> {
    return this.users.emails(ids);
  }

  /** Keeps the same password at another cost; one that was changed meanwhile stays as it is. */
  rehash(tx: Tx, id: string, oldHash: string, newHash: string): void {
    this.users.rehash(tx, id, oldHash, newHash);
  }

  /** What is wrong with a login that somebody is to get. */
  checkCredentials(input: { email: string; password: string }): Violation[] {
    return [...checkEmail(normalizeEmail(input.email)), ...this.passwords.check(input.password)];
  }

  /**
   * Gives the e-mail to somebody new. A user who is nobody now is taken as they are, with this name and password: one
   * who was removed, or whose invitations have all expired, which are replaced by this. Of two at once one gets it.
   * @returns the id of the user, locked until the end of `tx`
   * @throws ApiError 400 when the e-mail is somebody's
   */
  async claim(tx: Tx, user: Omit<NewUser, 'id' | 'createdAt'>): Promise<string> {
    const now = this.clock.now();
    const known = await this.users.lockByEmail(tx, user.email);
    if (!known) {
      const id = newId(now);
      this.users.insert(tx, { ...user, id, createdAt: now });
      return id;
    }
    // A statement of its own: the one that waited for the lock does not see what was committed meanwhile elsewhere.
    const memberships = await this.members.membershipsOf(tx, known.id);
    const holds = ({ invitedUntil }: { invitedUntil: Date | null }): boolean =>
      known.active || (invitedUntil !== null && invitedUntil > now);
    if (known.operator || memberships.some(holds)) throw emailTaken();
    for (const { accountId, role } of memberships) {
      this.members.remove(tx, accountId, known.id);
      // By nobody of that account: who takes the e-mail may be of another.
      this.audit.record(tx, SYSTEM, 'member.removed', accountId, {
        data: { user_id: known.id, role, reason: 'invitation_expired' },
      });
    }
    this.users.renew(tx, known.id, user);
    this.#endSessions(tx, known.id);
    return known.id;
  }

  /** Platform staff: a user without an account (docs/contract.md#roles). @throws ApiError 400 with every violation */
  async createOperator(input: { email: string; password: string }, actor: Actor): Promise<{ userId: string }> {
    const violations = this.checkCredentials(input);
    if (violations.length > 0) throw invalidRequest(violations);
    const email = normalizeEmail(input.email);
    const passwordHash = await this.passwords.hash(input.password);
    return unlessEmailTaken(() =>
      this.database.transaction(async (tx) => {
        const userId = await this.claim(tx, { email, name: email, passwordHash, operator: true });
        this.audit.record(tx, actor, 'operator.created', null, { data: { user_id: userId } });
        return { userId };
      }),
    );
  }

  /** Their tokens stop working at once; the user stays, for the audit trail names them. @throws ApiError 404 */
  async removeOperator(email: string, actor: Actor): Promise<{ userId: string }> {
    return this.database.transaction(async (tx) => {
      const user = await this.users.lockByEmail(tx, normalizeEmail(email));
      if (!user?.operator) throw notFound('operator');
      this.users.dismiss(tx, user.id);
      this.#endSessions(tx, user.id);
      this.audit.record(tx, actor, 'operator.removed', null, { data: { user_id: user.id } });
      return { userId: user.id };
    });
  }

  /**
   * For who has lost theirs, or lost it to somebody else: their tokens stop working at once.
   * @throws ApiError 400; 404 for an e-mail that nobody logs in with, as one that was only invited
   */
  async changePassword(input: { email: string; password: string }, actor: Actor): Promise<{ userId: string }> {
    const violations = this.passwords.check(input.password);
    if (violations.length > 0) throw invalidRequest(violations);
    const passwordHash = await this.passwords.hash(input.password);
    return this.database.transaction(async (tx) => {
      const user = await this.users.lockByEmail(tx, normalizeEmail(input.email));
      const memberships = user ? await this.members.membershipsOf(tx, user.id) : [];
      if (!user?.active || !(user.operator || memberships.length > 0)) throw notFound('user who can log in');
      this.users.setPassword(tx, user.id, passwordHash);
      this.#endSessions(tx, user.id);
      for (const accountId of user.operator ? [null] : memberships.map((membership) => membership.accountId)) {
        this.audit.record(tx, actor, 'user.password_changed', accountId, { data: { user_id: user.id } });
      }
      return { userId: user.id };
    });
  }

  /**
   * Ends every token given until now, also by a process whose clock is ahead, and by a login that is under way with
   * what it has read before. Tokens given from now on are dated later than this, by so little that a process whose
   * clock is behind takes them too.
   */
  #endSessions(tx: Tx, id: string): void {
    this.users.endSessions(tx, id, new Date(this.clock.now().getTime() + (CLOCK_SKEW_SECONDS / 2) * 1000));
  }
}

export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

export function checkEmail(email: string): Violation[] {
  // .local and the like are allowed: the demo owner has such an address.
  return isEmail(email, { require_tld: false })
    ? []
    : [{ param: 'email', code: 'invalid', message: 'must be an e-mail address' }];
}

function emailTaken(): ApiError {
  return badRequest('invalid_request', 'A user with this e-mail exists already.', 'email');
}

/** Of two who take the same new e-mail at once, one hears it from the database. */
export async function unlessEmailTaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw uniqueViolation(error) === 'users_email_key' ? emailTaken() : error;
  }
}
