import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth, AuditedAtDoor, Costs, CurrentScope, OpenToMembers } from '../auth/index.js';
import { ApiRefusal, cursorPage, idCursorFilter } from '../core/http/index.js';
import type { Scope } from '../core/mode.js';
import { CreateReportDto } from './dto/create-report.dto.js';
import { ListReportsQuery } from './dto/list-reports.query.js';
import { ReportBody, ReportListBody } from './dto/report.body.js';
import { reportBody } from './report.serializer.js';
import { ReportsService } from './reports.service.js';

/** A file of any size. */
const REPORT_TOKENS = 20;

@ApiTags('Reports')
@ApiKeyAuth()
@Controller('v1/reports')
export class ReportsController {
  constructor(private readonly reports: ReportsService) {}

  @Post()
  @AuditedAtDoor('report.requested')
  @OpenToMembers()
  @Costs(() => REPORT_TOKENS)
  @HttpCode(202)
  @ApiOperation({
    summary: 'Ask for a report',
    description:
      'A file of any size, of the key’s mode. `report.ready` tells when it is done; it is kept for 7 days. Of a thousand files the oldest goes for the next one.',
  })
  @ApiResponse({ status: 202, description: 'It will be made.', type: ReportBody })
  @ApiRefusal(422, { report_limit_reached: 'Five reports are being made, or the files have reached 2 GiB.' })
  async create(@CurrentScope() scope: Scope, @Body() dto: CreateReportDto): Promise<ReportBody> {
    return reportBody(await this.reports.create(scope, dto), null);
  }

  @Get()
  @ApiOperation({ summary: 'List reports', description: 'Newest first, for 90 days; without links to their files.' })
  @ApiResponse({ status: 200, description: 'A page.', type: ReportListBody })
  async list(@CurrentScope() scope: Scope, @Query() query: ListReportsQuery): Promise<ReportListBody> {
    const before = query.starting_after?.replace(/^rep_/, '');
    const filter = { ...idCursorFilter(query), before: before ?? null };
    const rows = await this.reports.list(scope, filter);
    return cursorPage(
      rows,
      filter.limit,
      (report) => reportBody(report, null),
      ({ id }) => id,
    );
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a report', description: 'How far it is, and when it is ready a link to its file.' })
  @ApiParam({ name: 'id', description: '`rep_<uuid>` or the bare `<uuid>`.', schema: { type: 'string' } })
  @ApiResponse({ status: 200, description: 'The report.', type: ReportBody })
  async get(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<ReportBody> {
    const { report, downloadUrl } = await this.reports.get(scope, id);
    return reportBody(report, downloadUrl);
  }
}
