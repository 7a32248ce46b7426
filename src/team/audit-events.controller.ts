import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { UsersService } from '../accounts/index.js';
import { AuditTrail } from '../audit/index.js';
import { CurrentMember, DashboardAuth, type MemberPrincipal } from '../auth/index.js';
import { cursorPage, idCursorFilter } from '../core/http/index.js';
import { auditEventBody } from './audit-events.serializer.js';
import { AuditEventListBody } from './dto/audit-event.body.js';
import { ListAuditEventsQuery } from './dto/list-audit-events.query.js';

@ApiTags('Audit events')
@DashboardAuth('OWNER', 'ADMIN')
@Controller('v1/audit-events')
export class AuditEventsController {
  constructor(
    private readonly audit: AuditTrail,
    private readonly users: UsersService,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List audit events',
    description:
      'Logins, changes of keys, members, webhook endpoints and settings, refunds and answers to disputes, newest first, by cursor. Events are never changed, and kept for five years.',
  })
  @ApiOkResponse({ description: 'A page.', type: AuditEventListBody })
  async list(
    @CurrentMember() { accountId }: MemberPrincipal,
    @Query() query: ListAuditEventsQuery,
  ): Promise<AuditEventListBody> {
    const filter = { ...idCursorFilter(query), type: query.type ?? null, actor: query.actor ?? null };
    const events = await this.audit.list(accountId, filter);
    // E-mails of members only: merchants are not shown those of operators, who are the platform's staff.
    const memberIds = events.flatMap(({ actor }) => (actor.type === 'member' && actor.id !== null ? [actor.id] : []));
    const emails = await this.users.emails(memberIds);
    return cursorPage(
      events,
      filter.limit,
      (event) => auditEventBody(event, emails),
      (event) => event.id,
    );
  }
}
