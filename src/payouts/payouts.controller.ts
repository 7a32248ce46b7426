import { Body, Controller, Get, Headers, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../audit/index.js';
import {
  ApiKeyAuth,
  AtDoorOnly,
  Costs,
  CurrentActor,
  CurrentCaller,
  CurrentMember,
  CurrentPerson,
  CurrentScope,
  type MemberPrincipal,
  type ScopedCaller,
} from '../auth/index.js';
import type { Draft } from '../core/errors/index.js';
import {
  ApiErrors,
  ApiRefusal,
  cursorFilter,
  cursorPage,
  DraftBody,
  FRAUD_ERRORS,
  PostOk,
} from '../core/http/index.js';
import { Idempotent, type IdempotentAnswer, REPLAYED_HEADER } from '../core/idempotency/index.js';
import { parseId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { TOTALS_DESCRIPTION, TOTALS_TOKENS, TotalsBody, totalsBody } from '../core/totals.js';
import { PayoutBody, PayoutListBody } from './dto/payout.body.js';
import { CreatePayoutDto, DecidePayoutDto, ListPayoutsQuery, RefusePayoutDto } from './dto/payout.dto.js';
import { payoutBody, payoutSnapshot } from './payout.serializer.js';
import { payoutStatusesOf } from './payout-status.js';
import { type Decider, PayoutApprovals } from './payout-approvals.service.js';
import { PayoutRequests } from './payout-requests.service.js';
import type { PayoutFilter } from './payouts.repository.js';
import { PayoutsService } from './payouts.service.js';

export const PAYOUT_ID = {
  name: 'id',
  description: '`po_<uuid>` or the bare `<uuid>`.',
  schema: { type: 'string' as const },
};

export function payoutId(id: string): string {
  return parseId(id, ['po_'], 'payout');
}

export function deciderOf({ userId, role }: MemberPrincipal, body: DecidePayoutDto, actor: Actor): Decider {
  return { userId, role, code: body.code ?? null, actor };
}

@ApiTags('Payouts')
@ApiKeyAuth()
@Controller('v1')
export class PayoutsController {
  constructor(
    private readonly requests: PayoutRequests,
    private readonly payouts: PayoutsService,
    private readonly approvals: PayoutApprovals,
  ) {}

  @Post('payouts')
  @Idempotent('header', { permanent: true })
  @ApiOperation({
    summary: 'Create a payout',
    description:
      'Sends money from the available balance to a bank account by Pix. Amount and fee are debited at once, and come back when the payout fails or is returned.',
  })
  @ApiResponse({ status: 201, description: 'The payout, accepted.', type: PayoutBody, headers: REPLAYED_HEADER })
  @ApiErrors(...FRAUD_ERRORS, 'no_provider_configured')
  @ApiRefusal(409, {
    likely_duplicate: 'The same destination got the same amount within ten minutes; see `allow_duplicate`.',
  })
  @ApiRefusal(422, {
    insufficient_balance: 'The available balance is below amount and fee.',
    payout_limit_exceeded: 'The amount is above a limit of the account.',
    destination_not_found: 'No saved destination has this id.',
    destination_not_allowed: 'The account pays out to its own accounts only.',
    account_tax_id_missing: 'The account has no tax id to compare the receiver with.',
    PAYOUT_NOT_SUPPORTED: 'The connection cannot send to this kind of destination.',
  })
  create(
    @CurrentCaller() { accountId, mode, account }: ScopedCaller,
    @CurrentPerson() personId: string | null,
    @DraftBody(CreatePayoutDto) draft: Draft<CreatePayoutDto>,
    @Headers('Idempotency-Key') key: string,
    @CurrentActor() actor: Actor,
  ): Promise<IdempotentAnswer<PayoutBody>> {
    return this.requests.create({ scope: { accountId, mode }, account, personId, actor }, draft, key);
  }

  @Get('payouts')
  @ApiOperation({ summary: 'List payouts', description: 'Newest first, by cursor.' })
  @ApiResponse({ status: 200, description: 'A page.', type: PayoutListBody })
  async list(@CurrentScope() scope: Scope, @Query() query: ListPayoutsQuery): Promise<PayoutListBody> {
    const filter = filterOf(query);
    const found = await this.payouts.list(scope, filter);
    return cursorPage(
      found,
      filter.limit,
      (payout) => payoutBody(payoutSnapshot(payout)),
      ({ id }) => id,
    );
  }

  @Get('payouts/totals')
  @Costs(() => TOTALS_TOKENS)
  @ApiOperation({ summary: 'Count payouts', description: TOTALS_DESCRIPTION })
  @ApiResponse({ status: 200, description: 'Count and sums.', type: TotalsBody })
  async count(@CurrentScope() scope: Scope, @Query() query: ListPayoutsQuery): Promise<TotalsBody> {
    return totalsBody(await this.payouts.totals(scope, filterOf(query)));
  }

  @Get('payouts/:id')
  @ApiOperation({ summary: 'Read a payout', description: 'Learn of its outcome by webhook instead of polling.' })
  @ApiParam(PAYOUT_ID)
  @ApiResponse({ status: 200, description: 'The payout.', type: PayoutBody })
  get(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<PayoutBody> {
    return this.payouts.get(scope, payoutId(id));
  }

  @PostOk('payouts/:id/cancel')
  @ApiOperation({
    summary: 'Cancel a payout',
    description: 'While it is `pending`: its money is available again at once. Repeating changes nothing.',
  })
  @ApiParam(PAYOUT_ID)
  @ApiResponse({ status: 200, description: 'The payout, cancelled.', type: PayoutBody })
  @ApiRefusal(409, { payout_not_cancellable: 'The bank has it.' })
  cancel(@CurrentScope() scope: Scope, @Param('id') id: string, @CurrentActor() actor: Actor): Promise<PayoutBody> {
    return this.payouts.cancel(scope, payoutId(id), actor);
  }

  @PostOk('payouts/:id/approve')
  @AtDoorOnly()
  @ApiOperation({
    summary: 'Approve a payout',
    description:
      'For OWNER and ADMIN, but not for whoever requested the payout, issued its API key, changed its schedule or approved its destination. An OWNER’s approval ends the wait for a new destination too.',
  })
  @ApiParam(PAYOUT_ID)
  @ApiResponse({ status: 200, description: 'The payout, approved.', type: PayoutBody })
  @ApiRefusal(400, { second_factor_required: 'Send a one-time code as `code`.' })
  @ApiRefusal(403, { approval_not_allowed: 'Another person has to decide.' })
  @ApiRefusal(409, { payout_not_waiting: 'It does not wait for an approval.' })
  approve(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() body: DecidePayoutDto,
    @CurrentMember() member: MemberPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<PayoutBody> {
    return this.approvals.approve(scope, payoutId(id), deciderOf(member, body, actor));
  }

  @PostOk('payouts/:id/refuse')
  @AtDoorOnly()
  @ApiOperation({
    summary: 'Refuse a payout',
    description: 'As approving, with the opposite end: the payout is cancelled and its money available again.',
  })
  @ApiParam(PAYOUT_ID)
  @ApiResponse({ status: 200, description: 'The payout, cancelled.', type: PayoutBody })
  @ApiRefusal(400, { second_factor_required: 'Send a one-time code as `code`.' })
  @ApiRefusal(403, { approval_not_allowed: 'Another person has to decide.' })
  @ApiRefusal(409, { payout_not_waiting: 'It does not wait for an approval.' })
  refuse(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() body: RefusePayoutDto,
    @CurrentMember() member: MemberPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<PayoutBody> {
    return this.approvals.refuse(scope, payoutId(id), deciderOf(member, body, actor), body.reason ?? null);
  }
}

function filterOf(query: ListPayoutsQuery): PayoutFilter {
  return {
    ...cursorFilter(query),
    before: query.starting_after === undefined ? null : payoutId(query.starting_after),
    statuses: query.status === undefined ? null : payoutStatusesOf(query.status),
    destinationId: query.destination === undefined ? null : parseId(query.destination, ['pd_'], 'payout destination'),
  };
}
