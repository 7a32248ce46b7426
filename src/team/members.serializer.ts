import type { Invitation, Member } from '../accounts/index.js';
import type { InvitedMemberBody, MemberBody, MemberListBody } from './dto/member.body.js';

export function memberBody(member: Member): MemberBody {
  return {
    id: member.userId,
    object: 'member',
    email: member.email,
    name: member.name,
    role: member.role,
    status: member.active ? 'active' : 'invited',
    created_at: member.createdAt.toISOString(),
  };
}

export function memberList(members: readonly Member[]): MemberListBody {
  return { object: 'list', data: members.map(memberBody) };
}

export function invitedMember({ member, token, expiresAt }: Invitation): InvitedMemberBody {
  return {
    id: member.userId,
    object: 'member',
    email: member.email,
    name: member.name,
    role: member.role,
    status: 'invited',
    created_at: member.createdAt.toISOString(),
    invitation: { token, expires_at: expiresAt.toISOString() },
  };
}
