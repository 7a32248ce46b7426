import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Costs, CurrentMember, DashboardAuth, type MemberPrincipal } from '../auth/index.js';
import { cursorPage, idCursorFilter } from '../core/http/index.js';
import { ListRequestLogsQuery } from './dto/list-request-logs.query.js';
import { RequestLogListBody } from './dto/request-log.body.js';
import { requestLogBody } from './request-logs.serializer.js';
import { RequestLogsService } from './request-logs.service.js';

@ApiTags('Request logs')
@DashboardAuth()
@Controller('v1/request-logs')
export class RequestLogsController {
  constructor(private readonly logs: RequestLogsService) {}

  @Get()
  // Rare ones are looked for among all that there are.
  @Costs(({ route, mode, status }) => ((route ?? mode ?? status) === undefined ? 0 : 20))
  @ApiOperation({
    summary: 'List the requests of the account',
    description:
      'Of the last seven days, by keys and by people, newest first; a request shows within about a second of its answer. Neither bodies nor queries are kept. Requests without authentication belong to no account, and what open pages of the dashboard read is not listed.',
  })
  @ApiOkResponse({ description: 'A page.', type: RequestLogListBody })
  async list(
    @CurrentMember() { accountId }: MemberPrincipal,
    @Query() query: ListRequestLogsQuery,
  ): Promise<RequestLogListBody> {
    const filter = {
      ...idCursorFilter(query),
      mode: query.mode ?? null,
      apiKeyFingerprint: query.apiKeyFingerprint ?? null,
      route: query.route ?? null,
      status: query.status ?? null,
      requestId: query.requestId ?? null,
    };
    const logs = await this.logs.list(accountId, filter);
    return cursorPage(logs, filter.limit, requestLogBody, (log) => log.id);
  }
}
