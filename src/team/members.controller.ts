import { Body, Controller, Delete, Get, Header, Param, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { MembersService } from '../accounts/index.js';
import type { Actor } from '../audit/index.js';
import { CurrentActor, CurrentMember, DashboardAuth, type MemberPrincipal } from '../auth/index.js';
import { ApiErrors, ApiRequestId, COMMON_HEADERS, ErrorBody, RESPONSE_HEADERS } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import { InvitedMemberBody, MemberBody, MemberListBody, RemovedBody } from './dto/member.body.js';
import { ChangeRoleDto, InviteMemberDto } from './dto/member.dto.js';
import { invitedMember, memberBody, memberList } from './members.serializer.js';

const MEMBER_ID = { name: 'id', description: 'Id of the member.', schema: { type: 'string' as const } };
const LAST_OWNER = {
  status: 422,
  description: '`last_owner`: the account would have no OWNER left who can log in.',
  type: ErrorBody,
  headers: COMMON_HEADERS,
};

@ApiTags('Members')
@DashboardAuth('OWNER', 'ADMIN')
@ApiRequestId()
@Controller('v1/members')
export class MembersController {
  constructor(private readonly members: MembersService) {}

  @Get()
  @ApiOperation({ summary: 'List members', description: 'Those who were invited among them, oldest first.' })
  @ApiOkResponse({ description: 'All members.', type: MemberListBody, headers: RESPONSE_HEADERS })
  async list(@CurrentMember() { accountId }: MemberPrincipal): Promise<MemberListBody> {
    return memberList(await this.members.list(accountId));
  }

  @Post()
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    summary: 'Invite a member',
    description:
      'The invited member chooses a password with POST /v1/auth/accept-invitation within 7 days. Inviting again who has not accepted replaces the invitation and the role. A user belongs to one account. Only an OWNER may invite an OWNER.',
  })
  @ApiCreatedResponse({ description: 'Invited.', type: InvitedMemberBody, headers: RESPONSE_HEADERS })
  @ApiErrors(400, 413, 415)
  async invite(
    @CurrentMember() { accountId }: MemberPrincipal,
    @Body() { email, name, role }: InviteMemberDto,
    @CurrentActor() actor: Actor,
  ): Promise<InvitedMemberBody> {
    return invitedMember(await this.members.invite(accountId, { email, name: name ?? null, role }, actor));
  }

  @Patch(':id')
  @ApiOperation({
    summary: 'Change a role',
    description: 'Holds from the member’s next request on. Only an OWNER may make or unmake an OWNER.',
  })
  @ApiParam(MEMBER_ID)
  @ApiOkResponse({ description: 'Changed.', type: MemberBody, headers: RESPONSE_HEADERS })
  @ApiErrors(400, 404, 413, 415)
  @ApiResponse(LAST_OWNER)
  async changeRole(
    @CurrentMember() { accountId }: MemberPrincipal,
    @Param('id') id: string,
    @Body() { role }: ChangeRoleDto,
    @CurrentActor() actor: Actor,
  ): Promise<MemberBody> {
    return memberBody(await this.members.changeRole(accountId, parseId(id, [], 'member'), role, actor));
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Remove a member',
    description: 'The member’s tokens stop working at once. Only an OWNER may remove an OWNER.',
  })
  @ApiParam(MEMBER_ID)
  @ApiOkResponse({ description: 'Removed.', type: RemovedBody, headers: RESPONSE_HEADERS })
  @ApiErrors(404)
  @ApiResponse(LAST_OWNER)
  async remove(
    @CurrentMember() { accountId }: MemberPrincipal,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<RemovedBody> {
    await this.members.remove(accountId, parseId(id, [], 'member'), actor);
    return { removed: true };
  }
}
