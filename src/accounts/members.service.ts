import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isEmail } from 'class-validator';
import { type Actor, AuditTrail, type Origin } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database, type Tx, uniqueViolation } from '../core/database/index.js';
import {
  type ApiError,
  badRequest,
  business,
  forbidden,
  invalidRequest,
  notFound,
  type Violation,
} from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import { type LoginUser, type Member, MembersRepository, type Role } from './members.repository.js';
import { Passwords } from './passwords.js';

const INVITATION_MS = 7 * 24 * 3600 * 1000;

export interface Invitation {
  readonly member: Member;
  /** Exists only in this answer: what is stored is its hash. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** The people of an account, and platform staff. */
@Injectable()
export class MembersService {
  constructor(
    private readonly database: Database,
    private readonly members: MembersRepository,
    private readonly passwords: Passwords,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  list(accountId: string): Promise<Member[]> {
    return this.members.list(accountId);
  }

  findLogin(email: string): Promise<LoginUser | null> {
    return this.members.findLogin(email);
  }

  /** E-mails by user id, for what shows who did something. */
  emails(userIds: readonly string[]): Promise<Map<string, string>> {
    return this.members.emails(userIds);
  }

  setPassword(tx: Tx, userId: string, passwordHash: string): void {
    this.members.setPassword(tx, userId, passwordHash);
  }

  /** What is wrong with a login that somebody is to get. */
  checkCredentials(input: { email: string; password: string }): Violation[] {
    return [...checkEmail(normalizeEmail(input.email)), ...this.passwords.check(input.password)];
  }

  /**
   * Makes the user with this e-mail a member. One who was removed from their account before is taken as they are, with
   * this password and name; a user has one account.
   * @throws ApiError 400 when the e-mail is somebody's already
   */
  async admit(
    tx: Tx,
    member: { accountId: string; email: string; name: string; passwordHash: string | null; role: Role },
  ): Promise<string> {
    const createdAt = this.clock.now();
    const known = await this.members.lockByEmail(tx, member.email);
    if (known && (known.operator || known.membership)) throw emailTaken();
    const userId = known?.id ?? newId(createdAt);
    if (known) {
      this.members.rename(tx, userId, member.name);
      this.members.setPassword(tx, userId, member.passwordHash);
    } else {
      this.members.insertUser(tx, { ...member, id: userId, operator: false, createdAt });
    }
    this.members.insert(tx, { accountId: member.accountId, userId, role: member.role, createdAt });
    return userId;
  }

  /** Platform staff: a user without an account (decisions §5.2). @throws ApiError 400 with every violation */
  async createOperator(input: { email: string; password: string }, actor: Actor): Promise<{ userId: string }> {
    const violations = this.checkCredentials(input);
    if (violations.length > 0) throw invalidRequest(violations);
    const email = normalizeEmail(input.email);
    const passwordHash = await this.passwords.hash(input.password);
    const createdAt = this.clock.now();
    const id = newId(createdAt);
    await unlessEmailTaken(() =>
      this.database.transaction(async (tx) => {
        this.members.insertUser(tx, { id, email, name: email, passwordHash, operator: true, createdAt });
        this.audit.record(tx, actor, 'operator.created', null, { data: { user_id: id } });
      }),
    );
    return { userId: id };
  }

  /**
   * Makes a member who cannot log in before the invitation is accepted. Repeated for one who has not accepted yet, it
   * replaces the invitation, with its role.
   * @throws ApiError 400; 403 for an ADMIN who invites an OWNER
   */
  async invite(
    accountId: string,
    input: { email: string; name: string | null; role: Role },
    actor: Actor,
  ): Promise<Invitation> {
    const email = normalizeEmail(input.email);
    const violations = [...checkEmail(email), ...checkName(input.name)];
    if (violations.length > 0) throw invalidRequest(violations);
    const name = input.name?.trim() ?? email;
    const token = randomBytes(32).toString('base64url');
    return unlessEmailTaken(() =>
      this.database.transaction(async (tx) => {
        const known = await this.members.lockByEmail(tx, email);
        const { target } = await this.#managing(tx, accountId, actor, known?.id ?? null, input.role);
        const member = target?.active === false ? target : null;
        const now = this.clock.now();
        const expiresAt = new Date(now.getTime() + INVITATION_MS);
        let userId: string;
        if (member) {
          userId = member.userId;
          this.members.rename(tx, userId, name);
          this.members.setRole(tx, accountId, userId, input.role);
        } else {
          userId = await this.admit(tx, { accountId, email, name, passwordHash: null, role: input.role });
        }
        this.members.putInvitation(tx, { accountId, userId, tokenHash: hashOf(token), expiresAt, createdAt: now });
        this.audit.record(tx, actor, 'member.invited', accountId, { data: { user_id: userId, role: input.role } });
        const createdAt = member?.createdAt ?? now;
        return { member: { userId, email, name, role: input.role, active: false, createdAt }, token, expiresAt };
      }),
    );
  }

  /** @throws ApiError 400 for a token that is unknown, used or too old, or a password that is no good */
  async acceptInvitation(input: { token: string; password: string }, origin: Origin): Promise<void> {
    const violations = this.passwords.check(input.password);
    if (violations.length > 0) throw invalidRequest(violations);
    const passwordHash = await this.passwords.hash(input.password);
    await this.database.transaction(async (tx) => {
      const invitation = await this.members.takeInvitation(tx, hashOf(input.token), this.clock.now());
      if (!invitation) throw badRequest('invalid_request', 'This invitation is not valid any more.', 'token');
      const { accountId, userId } = invitation;
      this.members.setPassword(tx, userId, passwordHash);
      this.audit.record(tx, { type: 'member', id: userId, ...origin }, 'member.joined', accountId);
    });
  }

  /**
   * Holds from the member's next request on.
   * @throws ApiError 403 when an OWNER is concerned and the actor is none; 404; 422 `last_owner`
   */
  async changeRole(accountId: string, userId: string, role: Role, actor: Actor): Promise<Member> {
    return this.database.transaction(async (tx) => {
      const { target, owners } = await this.#managing(tx, accountId, actor, userId, role);
      if (!target) throw notFound('member');
      if (target.role === role) return target;
      if (role !== 'OWNER') assertOwnerLeft(owners, userId);
      this.members.setRole(tx, accountId, userId, role);
      this.audit.record(tx, actor, 'member.role_changed', accountId, {
        data: { user_id: userId, from: target.role, to: role },
      });
      return { ...target, role };
    });
  }

  /**
   * The member's tokens stop working at once; the user stays, for the audit trail names them.
   * @throws ApiError 403 when an OWNER is concerned and the actor is none; 404; 422 `last_owner`
   */
  async remove(accountId: string, userId: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { target, owners } = await this.#managing(tx, accountId, actor, userId, null);
      if (!target) throw notFound('member');
      assertOwnerLeft(owners, userId);
      this.members.remove(tx, accountId, userId);
      this.audit.record(tx, actor, 'member.removed', accountId, { data: { user_id: userId, role: target.role } });
    });
  }

  /**
   * Locks the OWNERs, the actor and the target, and checks anew that the actor may: their role may have changed since
   * the request began. Of two OWNERs who remove each other at once the second finds itself no member any more.
   * @param newRole what the target is to become
   */
  async #managing(
    tx: Tx,
    accountId: string,
    actor: Actor,
    targetId: string | null,
    newRole: Role | null,
  ): Promise<{ target: Member | undefined; owners: Member[] }> {
    const ids = [actor.id, targetId].filter((id) => id !== null);
    const locked = await this.members.lock(tx, accountId, ids);
    const manager = locked.find((member) => member.userId === actor.id);
    const target = locked.find((member) => member.userId === targetId);
    if (manager?.role !== 'OWNER') {
      if (manager?.role !== 'ADMIN') throw forbidden('This needs the role OWNER or ADMIN.');
      if (target?.role === 'OWNER' || newRole === 'OWNER') throw forbidden('Only an OWNER may make or remove OWNERs.');
    }
    return { target, owners: locked.filter((member) => member.role === 'OWNER') };
  }
}

/** An account that nobody can log in to as OWNER could never have one again. */
function assertOwnerLeft(owners: readonly Member[], leavingId: string): void {
  if (owners.some((owner) => owner.active && owner.userId !== leavingId)) return;
  throw business('last_owner', 'An account keeps at least one OWNER who can log in: make another one first.');
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

function checkEmail(email: string): Violation[] {
  // .local and the like are allowed: the demo owner has such an address.
  return isEmail(email, { require_tld: false })
    ? []
    : [{ param: 'email', code: 'invalid', message: 'must be an e-mail address' }];
}

function checkName(name: string | null): Violation[] {
  return name === null || (name.trim() !== '' && name.length <= 120)
    ? []
    : [{ param: 'name', code: 'invalid', message: 'must have 1 to 120 characters' }];
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
