import type { InvitationEntity, Member } from '../accounts/index.js';
import type { InvitedMemberBody, MemberBody, MemberListBody } from './dto/member.body.js';

export function memberBody(member: Member): MemberBody {
  return {
    id: member.userId,
    object: 'member',
    email: member.email,
    name: member.name,
    role: member.role,
    status: 'active',
    created_at: member.createdAt.toISOString(),
  };
}

/** Lists members, then invited people. */
export function memberList(members: readonly Member[], invitations: readonly InvitationEntity[]): MemberListBody {
  return { object: 'list', data: [...members.map(memberBody), ...invitations.map(invitedMember)] };
}

export function invitedMember(invitation: InvitationEntity): InvitedMemberBody {
  return {
    id: invitation.id,
    object: 'member',
    email: invitation.email,
    name: invitation.name,
    role: invitation.role,
    status: 'invited',
    created_at: invitation.createdAt.toISOString(),
    invitation: { expires_at: invitation.expiresAt.toISOString() },
  };
}
