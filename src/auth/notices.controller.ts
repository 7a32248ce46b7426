import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { NoticesService } from '../accounts/index.js';
import { lastInstantOf } from '../core/http/index.js';
import { CurrentMember, DashboardAuth } from './access.decorators.js';
import { ChangeNoticesDto, NoticesBody } from './dto/notices.dto.js';
import type { MemberPrincipal } from './principal.js';

/** The notices that a person wants from the account. */
@ApiTags('Dashboard')
@DashboardAuth('OWNER', 'ADMIN', 'MEMBER')
@Controller('v1/auth/notices')
export class NoticesController {
  constructor(private readonly notices: NoticesService) {}

  @Get()
  @ApiOperation({
    summary: 'Read your notices',
    description:
      'What the dashboard shows you, what is mailed to you, and up to when you have read. Mails about security come in any case.',
  })
  @ApiOkResponse({ description: 'Your choice, or the defaults of your role.', type: NoticesBody })
  async getNotices(@CurrentMember() { accountId, userId }: MemberPrincipal): Promise<NoticesBody> {
    const { mail, dashboard, read } = await this.notices.get(accountId, userId);
    return {
      mail: [...mail],
      dashboard: [...dashboard],
      read_live: read.live.toISOString(),
      read_test: read.test.toISOString(),
    };
  }

  @Patch()
  @ApiOperation({ summary: 'Choose your notices', description: 'Send what changes, each list as a whole.' })
  @ApiOkResponse({ description: 'Changed.', type: NoticesBody })
  async changeNotices(@CurrentMember() member: MemberPrincipal, @Body() dto: ChangeNoticesDto): Promise<NoticesBody> {
    const { read_live: live, read_test: test, ...chosen } = dto;
    await this.notices.change(member.accountId, member.userId, chosen, {
      ...(live === undefined ? {} : { live: lastInstantOf(live) }),
      ...(test === undefined ? {} : { test: lastInstantOf(test) }),
    });
    return this.getNotices(member);
  }
}
