import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { AccountsService, MembersService } from '../accounts/index.js';
import type { Actor } from '../audit/index.js';
import { CurrentActor, CurrentMember, DashboardAuth, type MemberPrincipal, NeedsSecondFactor } from '../auth/index.js';
import { ApiRefusal } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import { InvitedMemberBody, MemberBody, MemberListBody, RemovedBody } from './dto/member.body.js';
import { ChangeRoleDto, InviteMemberDto } from './dto/member.dto.js';
import { MailLimits } from './mail-limits.service.js';
import { invitedMember, memberBody, memberList } from './members.serializer.js';

const MEMBER_ID = { name: 'id', description: 'Id of the member.', schema: { type: 'string' as const } };
const LAST_OWNER = { last_owner: 'The account would have no OWNER left who can log in.' };

@ApiTags('Members')
@DashboardAuth('OWNER', 'ADMIN')
@Controller('v1/members')
export class MembersController {
  constructor(
    private readonly members: MembersService,
    private readonly accounts: AccountsService,
    private readonly limits: MailLimits,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List members', description: 'Those who were invited among them, oldest first.' })
  @ApiOkResponse({ description: 'All members.', type: MemberListBody })
  async list(@CurrentMember() { accountId }: MemberPrincipal): Promise<MemberListBody> {
    const [members, invitations] = await Promise.all([
      this.members.list(accountId),
      this.members.invitations(accountId),
    ]);
    return memberList(members, invitations);
  }

  @Post()
  @NeedsSecondFactor()
  @ApiOperation({
    summary: 'Invite a member',
    description:
      'Sends a mail with a token, which is nowhere else: its reader chooses a password with POST /v1/auth/accept-invitation within 7 days and is a member then. The answer is the same whether the e-mail is known elsewhere. Inviting again replaces the invitation, its id and its role. At most 20 wait at a time, 5 a day go to one mailbox and 50 a day out of an account. Only an OWNER may invite an OWNER.',
  })
  @ApiCreatedResponse({ description: 'Invited.', type: InvitedMemberBody })
  @ApiRefusal(422, { invitation_limit_reached: '20 invitations wait already.' })
  async invite(
    @CurrentMember() { accountId }: MemberPrincipal,
    @Body() { email, name, role }: InviteMemberDto,
    @CurrentActor() actor: Actor,
  ): Promise<InvitedMemberBody> {
    const admit = (): Promise<void> => this.limits.takeInvitation(accountId, email);
    const account = await this.accounts.get(accountId);
    return invitedMember(await this.members.invite(account, { email, name: name ?? null, role }, actor, admit));
  }

  @Patch(':id')
  @NeedsSecondFactor()
  @ApiOperation({
    summary: 'Change a role',
    description: 'Holds from the member’s next request on. Only an OWNER may make or unmake an OWNER.',
  })
  @ApiParam(MEMBER_ID)
  @ApiOkResponse({ description: 'Changed.', type: MemberBody })
  @ApiRefusal(422, LAST_OWNER)
  async changeRole(
    @CurrentMember() { accountId }: MemberPrincipal,
    @Param('id') id: string,
    @Body() { role }: ChangeRoleDto,
    @CurrentActor() actor: Actor,
  ): Promise<MemberBody> {
    return memberBody(await this.members.changeRole(accountId, parseId(id, [], 'member'), role, actor));
  }

  @Delete(':id')
  @NeedsSecondFactor()
  @ApiOperation({
    summary: 'Remove a member',
    description:
      'The member’s tokens stop working at once. With the id of an invitation that waits, it is withdrawn. Only an OWNER may remove an OWNER.',
  })
  @ApiParam(MEMBER_ID)
  @ApiOkResponse({ description: 'Removed.', type: RemovedBody })
  @ApiRefusal(422, LAST_OWNER)
  async remove(
    @CurrentMember() { accountId }: MemberPrincipal,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<RemovedBody> {
    await this.members.remove(accountId, parseId(id, [], 'member'), actor);
    return { removed: true };
  }
}
