import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../audit/index.js';
import {
  ApiKeyAuth,
  AtDoorOnly,
  CurrentActor,
  CurrentMember,
  CurrentPerson,
  CurrentScope,
  type MemberPrincipal,
} from '../auth/index.js';
import type { Draft } from '../core/errors/index.js';
import { ApiRefusal, cursorFilter, cursorPage, DraftBody, PostOk } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { PayoutDestinationBody, PayoutDestinationListBody } from './dto/payout-destination.body.js';
import { CreatePayoutDestinationDto, DecidePayoutDto, ListPayoutDestinationsQuery } from './dto/payout.dto.js';
import { PayoutApprovals } from './payout-approvals.service.js';
import { PayoutDestinationsService } from './payout-destinations.service.js';
import { payoutDestinationBody } from './payout.serializer.js';
import { deciderOf } from './payouts.controller.js';

const DESTINATION_ID = {
  name: 'id',
  description: '`pd_<uuid>` or the bare `<uuid>`.',
  schema: { type: 'string' as const },
};

@ApiTags('Payouts')
@ApiKeyAuth()
@Controller('v1/payout-destinations')
export class PayoutDestinationsController {
  constructor(
    private readonly destinations: PayoutDestinationsService,
    private readonly approvals: PayoutApprovals,
  ) {}

  @Post()
  @ApiOperation({
    summary: 'Save a payout destination',
    description: 'Answers show keys and tax ids masked. A destination that is saved already is answered as it is.',
  })
  @ApiResponse({ status: 201, description: 'The destination.', type: PayoutDestinationBody })
  @ApiRefusal(409, { destination_changed: 'It is saved with another tax id, or was deleted a moment ago.' })
  async save(
    @CurrentScope() scope: Scope,
    @CurrentPerson() personId: string | null,
    @DraftBody(CreatePayoutDestinationDto) draft: Draft<CreatePayoutDestinationDto>,
    @CurrentActor() actor: Actor,
  ): Promise<PayoutDestinationBody> {
    return payoutDestinationBody(await this.destinations.save({ scope, personId, actor }, draft));
  }

  @Get()
  @ApiOperation({ summary: 'List payout destinations', description: 'Newest first, by cursor.' })
  @ApiResponse({ status: 200, description: 'A page.', type: PayoutDestinationListBody })
  async list(
    @CurrentScope() scope: Scope,
    @Query() query: ListPayoutDestinationsQuery,
  ): Promise<PayoutDestinationListBody> {
    const before = query.starting_after === undefined ? null : destinationId(query.starting_after);
    const filter = { ...cursorFilter(query), before };
    const found = await this.destinations.list(scope, filter);
    return cursorPage(found, filter.limit, payoutDestinationBody, ({ id }) => id);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a payout destination', description: 'With its key and tax id masked.' })
  @ApiParam(DESTINATION_ID)
  @ApiResponse({ status: 200, description: 'The destination.', type: PayoutDestinationBody })
  async get(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<PayoutDestinationBody> {
    return payoutDestinationBody(await this.destinations.get(scope, destinationId(id)));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete a payout destination', description: 'Payouts to it that exist go on.' })
  @ApiParam(DESTINATION_ID)
  @ApiResponse({ status: 204, description: 'Deleted.' })
  async remove(@CurrentScope() scope: Scope, @Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.destinations.remove(scope, destinationId(id), actor);
  }

  @PostOk(':id/approve')
  @AtDoorOnly('OWNER')
  @ApiOperation({
    summary: 'Approve a payout destination',
    description: 'For an OWNER: payouts to it no longer wait. Whoever approves it may not approve payouts to it.',
  })
  @ApiParam(DESTINATION_ID)
  @ApiResponse({ status: 200, description: 'The destination, approved.', type: PayoutDestinationBody })
  @ApiRefusal(400, { second_factor_required: 'Send a one-time code as `code`.' })
  async approve(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() body: DecidePayoutDto,
    @CurrentMember() member: MemberPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<PayoutDestinationBody> {
    const decider = deciderOf(member, body, actor);
    return payoutDestinationBody(await this.approvals.approveDestination(scope, destinationId(id), decider));
  }
}

function destinationId(id: string): string {
  return parseId(id, ['pd_'], 'payout destination');
}
