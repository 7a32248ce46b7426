import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Actor, AuditTrail, type Origin } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import { badRequest, business, forbidden, invalidRequest, notFound, type Violation } from '../core/errors/index.js';
import type { Role } from './account.entity.js';
import { type Member, MembersRepository } from './members.repository.js';
import { Passwords } from './passwords.service.js';
import { isName } from './settings.js';
import { UsersRepository } from './users.repository.js';
import { checkEmail, normalizeEmail, unlessEmailTaken, UsersService } from './users.service.js';

const INVITATION_MS = 7 * 24 * 3600 * 1000;

export interface Invitation {
  readonly member: Member;
  /** Exists only in this answer: what is stored is its hash. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** The people of an account. */
@Injectable()
export class MembersService {
  constructor(
    private readonly database: Database,
    private readonly members: MembersRepository,
    private readonly userRows: UsersRepository,
    private readonly users: UsersService,
    private readonly passwords: Passwords,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  list(accountId: string): Promise<Member[]> {
    return this.members.list(accountId);
  }

  /**
   * Makes a user with this e-mail a member; a user has one account.
   * @throws ApiError 400 when the e-mail is somebody's already
   */
  async admit(
    tx: Tx,
    member: { accountId: string; email: string; name: string; passwordHash: string | null; role: Role },
  ): Promise<string> {
    const { accountId, role, ...user } = member;
    const userId = await this.users.claim(tx, { ...user, operator: false });
    this.members.insert(tx, { accountId, userId, role, createdAt: this.clock.now() });
    return userId;
  }

  /**
   * Makes a member who cannot log in before the invitation is accepted. Repeated for one who has not accepted yet, it
   * replaces the invitation, with its role; one that has expired gives way to any account's.
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
        const known = await this.userRows.lockByEmail(tx, email);
        const { target } = await this.#managing(tx, accountId, actor, known?.id ?? null, input.role);
        const member = target?.active === false ? target : null;
        const now = this.clock.now();
        const expiresAt = new Date(now.getTime() + INVITATION_MS);
        let userId: string;
        if (member) {
          userId = member.userId;
          this.userRows.rename(tx, userId, name);
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
      this.userRows.setPassword(tx, userId, passwordHash);
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

function checkName(name: string | null): Violation[] {
  return name === null || isName(name, 120)
    ? []
    : [{ param: 'name', code: 'invalid', message: 'must have 1 to 120 characters on one line' }];
}
