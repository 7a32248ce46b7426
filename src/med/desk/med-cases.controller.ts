import { Body, Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../../audit/index.js';
import { ApiKeyAuth, Costs, CurrentActor, CurrentScope } from '../../auth/index.js';
import { ApiErrors, cursorFilter, cursorPage, PostOk } from '../../core/http/index.js';
import { parseId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import { TOTALS_DESCRIPTION, TOTALS_TOKENS, TotalsBody, totalsBody } from '../../core/totals.js';
import { medCaseId } from '../cases/med-case-id.js';
import { AppealDto } from './dto/appeal.dto.js';
import { ListMedCasesQuery } from './dto/list-med-cases.query.js';
import { MedCaseBody, MedCaseListBody } from './dto/med-case.body.js';
import { medCaseBody } from './med-case.serializer.js';
import { type MedCaseQuery, MedCasesService } from './med-cases.service.js';

export const MED_CASE_ID = { name: 'id', description: '`med_<uuid>`.', schema: { type: 'string' as const } };

@ApiTags('MED')
@ApiKeyAuth()
@Controller('v1/med/cases')
export class MedCasesController {
  constructor(private readonly cases: MedCasesService) {}

  @Get()
  @ApiOperation({
    summary: 'List MED cases',
    description:
      'Newest first, or open ones by their deadline; by cursor. `/v1/infractions` is another name for `/v1/med/cases`.',
  })
  @ApiOkResponse({ description: 'A page.', type: MedCaseListBody })
  async list(@CurrentScope() scope: Scope, @Query() query: ListMedCasesQuery): Promise<MedCaseListBody> {
    const filter = filterOf(query);
    return cursorPage(await this.cases.list(scope, filter), filter.limit, medCaseBody, (body) => body.id);
  }

  @Get('totals')
  @Costs(() => TOTALS_TOKENS)
  @ApiOperation({ summary: 'Count MED cases', description: TOTALS_DESCRIPTION })
  @ApiOkResponse({ description: 'Count and sums.', type: TotalsBody })
  async count(@CurrentScope() scope: Scope, @Query() query: ListMedCasesQuery): Promise<TotalsBody> {
    return totalsBody(await this.cases.totals(scope, filterOf(query)));
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a MED case', description: 'What holds is its `status` and `money_outcome` here.' })
  @ApiParam(MED_CASE_ID)
  @ApiOkResponse({ description: 'The case.', type: MedCaseBody })
  async get(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<MedCaseBody> {
    return medCaseBody(await this.cases.find(scope, medCaseId(id)));
  }

  @PostOk(':id/appeal')
  @ApiOperation({
    summary: 'Appeal an open MED case',
    description: 'Recorded on this platform only; attach evidence before the deadline.',
  })
  @ApiParam(MED_CASE_ID)
  @ApiOkResponse({ description: 'The case, `appealed`.', type: MedCaseBody })
  async appeal(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() { reason }: AppealDto,
    @CurrentActor() actor: Actor,
  ): Promise<MedCaseBody> {
    return medCaseBody(await this.cases.appeal(scope, medCaseId(id), reason, actor));
  }

  @PostOk(':id/accept')
  @ApiOperation({
    summary: 'Accept an open MED case',
    description:
      'Final: the money that is held is lost. No body. 400 also while the bank has changed the amount and that is being checked (`metadata.med.amountMismatch` of its charge is true).',
  })
  @ApiParam(MED_CASE_ID)
  @ApiOkResponse({ description: 'The case, `accepted`.', type: MedCaseBody })
  @ApiErrors('invalid_request')
  async accept(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<MedCaseBody> {
    return medCaseBody(await this.cases.accept(scope, medCaseId(id), actor));
  }
}

/** A second name for the same routes, with the same decorators. */
@Controller('v1/infractions')
export class InfractionsController extends MedCasesController {}

function filterOf(query: ListMedCasesQuery): MedCaseQuery {
  const { status = null, type = null, order = 'created', charge_id: chargeId, customer, starting_after: after } = query;
  return {
    ...cursorFilter(query),
    status,
    type,
    order,
    transactionId: chargeId === undefined ? null : parseId(chargeId, ['ch_', 'tx_'], 'charge'),
    customerOf: customer === undefined ? null : parseId(customer, ['cus_', 'ch_', 'tx_'], 'customer'),
    after: after === undefined ? null : medCaseId(after),
  };
}
