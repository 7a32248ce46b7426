import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { MembersService } from '../accounts/index.js';
import { CurrentMember, DashboardAuth } from './access.decorators.js';
import { ChangeNoticesDto, NoticesBody } from './dto/notices.dto.js';
import type { MemberPrincipal } from './principal.js';

/** The notices that a person wants from the account. */
@ApiTags('Dashboard')
@DashboardAuth('OWNER', 'ADMIN', 'MEMBER')
@Controller('v1/auth/notices')
export class NoticesController {
  constructor(private readonly members: MembersService) {}

  @Get()
  @ApiOperation({
    summary: 'Read your notices',
    description: 'What the dashboard shows you and what is mailed to you. Mails about security come in any case.',
  })
  @ApiOkResponse({ description: 'Your choice, or the defaults of your role.', type: NoticesBody })
  async getNotices(@CurrentMember() { accountId, userId }: MemberPrincipal): Promise<NoticesBody> {
    const { mail, dashboard } = await this.members.notices(accountId, userId);
    return { mail: [...mail], dashboard: [...dashboard] };
  }

  @Patch()
  @ApiOperation({ summary: 'Choose your notices', description: 'Send what changes, each list as a whole.' })
  @ApiOkResponse({ description: 'Changed.', type: NoticesBody })
  async changeNotices(@CurrentMember() member: MemberPrincipal, @Body() dto: ChangeNoticesDto): Promise<NoticesBody> {
    await this.members.chooseNotices(member.accountId, member.userId, dto);
    return this.getNotices(member);
  }
}
