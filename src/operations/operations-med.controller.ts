import { Body, Controller, Get, Param, Patch, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { AccountsService } from '../accounts/index.js';
import type { Actor } from '../audit/index.js';
import { CurrentActor, CurrentUser, DashboardAuth, type UserPrincipal } from '../auth/index.js';
import { ApiRefusal, cursorPage, idCursorFilter, IdCursorQuery, PostOk } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import { MedDesk, MedWaitingList } from '../med/index.js';
import {
  ApproveMedDto,
  DismissMedDto,
  ListMedReviewsQuery,
  MedNotificationsBody,
  MedNotificationsDto,
  MedReviewBody,
  MedReviewListBody,
  MedWaitingListBody,
} from './dto/med-review.body.js';
import { OperationsMedService } from './operations-med.service.js';
import { medReviewBody, medWaitingBody } from './operations.serializer.js';

const CASE_ID = { name: 'id', description: 'Id of the case.', schema: { type: 'string' as const } };

function caseId(value: string): string {
  return parseId(value, ['med_'], 'MED case');
}

const NOT_DECIDABLE = {
  med_case_not_under_review: 'It was decided before, or is over.',
  med_case_changed: 'The case has changed since it was read: read it again.',
};

@ApiTags('Operators')
@DashboardAuth('OPERATOR')
@Controller('v1/operations/med')
export class OperationsMedController {
  constructor(
    private readonly operations: OperationsMedService,
    private readonly desk: MedDesk,
    private readonly waiting: MedWaitingList,
    private readonly accounts: AccountsService,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List MED cases that wait for an operator',
    description: 'What does not fit its charge, rulings under MED_AUTO_RULINGS=false, contradictions. Newest first.',
  })
  @ApiOkResponse({ description: 'A page.', type: MedReviewListBody })
  async list(@Query() query: ListMedReviewsQuery): Promise<MedReviewListBody> {
    const filter = { ...idCursorFilter(query), mode: query.mode ?? null, review: query.review ?? null };
    return cursorPage(await this.desk.queue(filter), filter.limit, medReviewBody, (review) => review.id.slice(4));
  }

  @Get('waiting')
  @ApiOperation({
    summary: 'List disputes whose payment is not settled here',
    description:
      'No case can be made of them before their payment is credited or returned: most often an operator has to decide about it. Newest first.',
  })
  @ApiOkResponse({ description: 'A page.', type: MedWaitingListBody })
  async listWaitingMedCases(@Query() query: IdCursorQuery): Promise<MedWaitingListBody> {
    const filter = idCursorFilter(query);
    return cursorPage(await this.waiting.list(filter), filter.limit, medWaitingBody, ({ id }) => id);
  }

  @Get(':id')
  @ApiOperation({
    summary: 'Read a MED case as an operator',
    description: 'Of any account, whether shown to it or not.',
  })
  @ApiParam(CASE_ID)
  @ApiOkResponse({ description: 'The case.', type: MedReviewBody })
  async get(@Param('id') id: string): Promise<MedReviewBody> {
    return medReviewBody(await this.desk.find(caseId(id)));
  }

  @PostOk(':id/approve')
  @ApiOperation({
    summary: 'Approve a MED case or its ruling',
    description:
      'A case that was kept back is opened for the merchant, with the right amount, also one that was dismissed and whose money the bank has taken; one whose amount the bank has changed goes on with the right one; a ruling that waits or was dismissed is applied; of a contradiction the money is moved as the bank has ruled after all.',
  })
  @ApiParam(CASE_ID)
  @ApiOkResponse({ description: 'The case as decided.', type: MedReviewBody })
  @ApiRefusal(409, NOT_DECIDABLE)
  async approve(
    @Param('id') id: string,
    @Body() { version, amount }: ApproveMedDto,
    @CurrentUser() { userId }: UserPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<MedReviewBody> {
    return medReviewBody(
      await this.operations.approve(caseId(id), amount ?? null, { version, operatorId: userId }, actor),
    );
  }

  @PostOk(':id/dismiss')
  @ApiOperation({
    summary: 'Dismiss a MED case or its ruling',
    description:
      'The merchant does not see a case that was kept back, which waits again when the bank takes its money; a ruling is not applied, and the case goes on.',
  })
  @ApiParam(CASE_ID)
  @ApiOkResponse({ description: 'The case as decided.', type: MedReviewBody })
  @ApiRefusal(409, NOT_DECIDABLE)
  async dismiss(
    @Param('id') id: string,
    @Body() { version }: DismissMedDto,
    @CurrentUser() { userId }: UserPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<MedReviewBody> {
    return medReviewBody(await this.operations.dismiss(caseId(id), { version, operatorId: userId }, actor));
  }

  @PostOk(':id/request-evidence')
  @ApiOperation({
    summary: 'Ask the merchant for evidence',
    description: 'Sets `evidence_requested_at` and sends `med_case.updated`. Repeating it asks again.',
  })
  @ApiParam(CASE_ID)
  @ApiOkResponse({ description: 'The case.', type: MedReviewBody })
  @ApiRefusal(409, { med_case_over: 'It is over or past its response deadline, or the merchant does not see it.' })
  async requestMoreEvidence(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<MedReviewBody> {
    return medReviewBody(await this.operations.requestEvidence(caseId(id), actor));
  }

  @Patch('accounts/:id')
  @ApiOperation({
    summary: 'Switch an account’s outcome notifications',
    description: 'Off: no `med.resolved`, and no `med_case.updated` when a case is accepted, rejected or closed.',
  })
  @ApiParam({ name: 'id', description: 'Id of the account.', schema: { type: 'string' } })
  @ApiOkResponse({ description: 'As it is now.', type: MedNotificationsBody })
  async setMedNotifications(
    @Param('id') id: string,
    @Body() dto: MedNotificationsDto,
    @CurrentActor() actor: Actor,
  ): Promise<MedNotificationsBody> {
    const accountId = parseId(id, [], 'account');
    await this.accounts.change(accountId, { medOutcomeNotifications: dto.outcome_notifications }, actor);
    return {
      account_id: accountId,
      object: 'med_notifications',
      outcome_notifications: dto.outcome_notifications,
    };
  }
}
