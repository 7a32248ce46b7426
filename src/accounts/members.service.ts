import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Actor, AuditTrail, type Origin } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import { type ApiError, badRequest, business, forbidden, invalidRequest, notFound } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import type { Account } from './account.entity.js';
import type { InvitationEntity } from './invitation.entity.js';
import type { Role } from './role.js';
import { checkEmail, normalizeEmail } from './email-address.js';
import { type Member, MembersRepository } from './members.repository.js';
import { type MailNotice, noticesOf } from './notices.js';
import { Passwords } from './passwords.service.js';
import { PersonMails } from './person-mails.service.js';
import { checkName, tokenHashOf, unlessEmailTaken, UsersService } from './users.service.js';

const INVITATION_MS = 7 * 24 * 3600 * 1000;
const MAX_INVITATIONS = 20;

/** Somebody who was just removed, or changed from OWNER or ADMIN to MEMBER. */
export interface LostPower {
  readonly accountId: string;
  readonly member: Member;
  /** Whether the person was removed. */
  readonly hasLeft: boolean;
  /** The remaining OWNERs. */
  readonly owners: readonly Member[];
}

type LostPowerListener = (tx: Tx, lost: LostPower) => Promise<void>;

/** The people of an account. */
@Injectable()
export class MembersService {
  #powerLost: LostPowerListener = async () => undefined;

  constructor(
    private readonly database: Database,
    private readonly members: MembersRepository,
    private readonly users: UsersService,
    private readonly passwords: Passwords,
    private readonly mails: PersonMails,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Called in the transaction that removes a member, or makes an OWNER or ADMIN a MEMBER. */
  whenPowerIsLost(listener: LostPowerListener): void {
    this.#powerLost = listener;
  }

  list(accountId: string, tx?: Tx): Promise<Member[]> {
    return this.members.list(accountId, tx);
  }

  /** Lists the members who want mails about this. @param tx for callers with an open transaction */
  async wanting(accountId: string, notice: MailNotice, tx?: Tx): Promise<Member[]> {
    const members = await this.members.list(accountId, tx);
    return members.filter((member) => noticesOf(member).mail.includes(notice));
  }

  /** Lists invitations that can be accepted, oldest first. */
  invitations(accountId: string): Promise<InvitationEntity[]> {
    return this.members.openInvitations(accountId, this.clock.now());
  }

  /**
   * Makes a user with this e-mail a member; a user has one account.
   * @throws ApiError 400 when a user has this e-mail already
   */
  async admit(
    tx: Tx,
    member: { accountId: string; email: string; name: string; passwordHash: string; role: Role },
  ): Promise<string> {
    const { accountId, role, ...user } = member;
    const userId = await this.users.claim(tx, { ...user, operator: false });
    this.members.insert(tx, { accountId, userId, role, createdAt: this.clock.now() });
    return userId;
  }

  /**
   * Sends an invitation by mail; its token goes nowhere else. An invitation reserves nothing, and the inviter does not
   * learn whether the e-mail belongs to a user of another account. A new one for the same e-mail replaces the one
   * before.
   * @param admit limits mails; called before anything is locked, as it may ask Redis
   * @throws ApiError 400; 403 for an ADMIN who invites an OWNER, and `account_suspended`; 422
   *   `invitation_limit_reached`
   */
  async invite(
    account: Account,
    input: { email: string; name: string | null; role: Role },
    actor: Actor,
    admit: () => Promise<void>,
  ): Promise<InvitationEntity> {
    const email = normalizeEmail(input.email);
    const violations = [...checkEmail(email), ...checkName(input.name)];
    if (violations.length > 0) throw invalidRequest(violations);
    const { id: accountId } = account;
    if (account.suspended) throw forbidden('This account is suspended: it cannot invite people.', 'account_suspended');
    // The inviter may list the members, so this answer reveals nothing new.
    if ((await this.members.list(accountId)).some((member) => member.email === email)) {
      throw badRequest('invalid_request', 'This is a member of the account already.', 'email');
    }
    await admit();
    return this.database.transaction(async (tx) => {
      await this.#managing(tx, accountId, actor, null, input.role);
      const open = await this.members.openInvitationsIn(tx, accountId, this.clock.now());
      const earlier = open.find((invitation) => invitation.email === email);
      if (earlier?.role === 'OWNER') await this.#managing(tx, accountId, actor, null, 'OWNER');
      if (!earlier && open.length >= MAX_INVITATIONS) {
        throw business(
          'invitation_limit_reached',
          `An account has at most ${MAX_INVITATIONS} invitations that wait: withdraw one with DELETE /v1/members/{id}.`,
        );
      }
      return this.send(tx, account, { email, name: input.name?.trim() ?? email, role: input.role }, actor);
    });
  }

  /**
   * Lets a member act only while they have the right, until the end of `tx`. If somebody removes them, that transaction
   * sees their actions.
   * @throws ApiError 403 `API_KEY_ROLE_REQUIRED` for a user who is no longer OWNER or ADMIN
   */
  async holdKeyManager(tx: Tx, accountId: string, actor: Actor): Promise<void> {
    if (actor.type !== 'member' || actor.id === null) return;
    const role = await this.members.hold(tx, accountId, actor.id);
    if (role === 'OWNER' || role === 'ADMIN') return;
    throw forbidden('This needs the role OWNER or ADMIN.', 'API_KEY_ROLE_REQUIRED');
  }

  /** Sends an invitation without checking the actor's rights: for an account that is being made. */
  send(
    tx: Tx,
    account: Pick<Account, 'id' | 'name'>,
    input: { email: string; name: string; role: Role },
    actor: Actor,
  ): InvitationEntity {
    const createdAt = this.clock.now();
    const token = randomBytes(32).toString('base64url');
    const invitation: InvitationEntity = {
      ...input,
      id: newId(createdAt),
      accountId: account.id,
      tokenHash: tokenHashOf(token),
      expiresAt: new Date(createdAt.getTime() + INVITATION_MS),
      createdAt,
      invitedBy: actor.type === 'member' ? actor.id : null,
    };
    this.members.putInvitation(tx, invitation);
    this.mails.invitation(tx, { ...invitation, token }, account.name);
    this.audit.record(tx, actor, 'member.invited', account.id, {
      data: { invitation_id: invitation.id, role: input.role },
    });
    return invitation;
  }

  /**
   * The token is looked up before anything is hashed: strangers without a token cost nothing.
   * @throws ApiError 400 for a token that is unknown, used or too old, a bad password, or an e-mail that logs in to
   *   another account
   */
  async acceptInvitation(input: { token: string; password: string }, origin: Origin): Promise<void> {
    const invitation = await this.members.findInvitation(tokenHashOf(input.token), this.clock.now());
    if (!invitation) throw invitationOver();
    const { id, accountId, email, name, role } = invitation;
    const violations = await this.passwords.check(input.password, { email, name });
    if (violations.length > 0) throw invalidRequest(violations);
    const passwordHash = await this.passwords.hash(input.password);
    await unlessEmailTaken(() =>
      this.database.transaction(async (tx) => {
        if (!(await this.members.takeInvitation(tx, id))) throw invitationOver();
        const userId = await this.admit(tx, { accountId, email, name, passwordHash, role });
        this.audit.record(tx, { type: 'member', id: userId, ...origin }, 'member.joined', accountId, {
          data: { invitation_id: id },
        });
      }),
    );
  }

  /**
   * Changes a role, from the member's next request on.
   * @throws ApiError 403 when an OWNER is concerned and the actor is none; 404; 422 `last_owner`
   */
  async changeRole(accountId: string, userId: string, role: Role, actor: Actor): Promise<Member> {
    return this.database.transaction(async (tx) => {
      const { target, owners } = await this.#managing(tx, accountId, actor, userId, role);
      if (!target) throw notFound('member');
      if (target.role === role) return target;
      if (role !== 'OWNER') assertOwnerLeft(owners, userId);
      this.members.setRole(tx, accountId, userId, role);
      // With fewer rights the member might no longer be allowed to send these invitations.
      if (role === 'MEMBER' || target.role === 'OWNER') this.members.withdrawSentBy(tx, accountId, userId);
      this.audit.record(tx, actor, 'member.role_changed', accountId, {
        data: { user_id: userId, from: target.role, to: role },
      });
      const member = { ...target, role };
      const remaining = othersOf(owners, userId);
      if (role === 'MEMBER') await this.#powerLost(tx, { accountId, member, hasLeft: false, owners: remaining });
      return member;
    });
  }

  /**
   * Removes a member, whose tokens stop working at once; the user stays, as the audit trail names them. An invitation
   * is withdrawn by its id.
   * @throws ApiError 403 when an OWNER is concerned and the actor is none; 404; 422 `last_owner`
   */
  async remove(accountId: string, userId: string, actor: Actor): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { target, owners } = await this.#managing(tx, accountId, actor, userId, null);
      if (!target) return this.#withdraw(tx, accountId, userId, actor);
      assertOwnerLeft(owners, userId);
      this.members.remove(tx, accountId, userId);
      this.members.withdrawSentBy(tx, accountId, userId);
      this.audit.record(tx, actor, 'member.removed', accountId, { data: { user_id: userId, role: target.role } });
      const remaining = othersOf(owners, userId);
      await this.#powerLost(tx, { accountId, member: target, hasLeft: true, owners: remaining });
    });
  }

  async #withdraw(tx: Tx, accountId: string, id: string, actor: Actor): Promise<void> {
    const open = await this.members.openInvitationsIn(tx, accountId, this.clock.now());
    const invitation = open.find((each) => each.id === id);
    if (!invitation) throw notFound('member');
    if (invitation.role === 'OWNER') await this.#managing(tx, accountId, actor, null, 'OWNER');
    if (!(await this.members.takeInvitation(tx, id))) throw notFound('member');
    const data = { invitation_id: id, role: invitation.role };
    this.audit.record(tx, actor, 'member.removed', accountId, { data });
  }

  /**
   * Locks the OWNERs, the actor and the target, and checks the actor's rights again: their role may have changed since
   * the request began. If two OWNERs remove each other at once, the second is no longer a member here.
   * @param newRole the target's future role
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

/** Without an OWNER who can log in, an account could never get one again. */
function assertOwnerLeft(owners: readonly Member[], leavingId: string): void {
  if (othersOf(owners, leavingId).length > 0) return;
  throw business('last_owner', 'An account keeps at least one OWNER who can log in: make another one first.');
}

function othersOf(members: readonly Member[], userId: string): Member[] {
  return members.filter((member) => member.userId !== userId);
}

function invitationOver(): ApiError {
  return badRequest('invalid_request', 'This invitation is not valid any more; ask for another one.', 'token');
}
