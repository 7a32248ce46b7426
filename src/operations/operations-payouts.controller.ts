import { Body, Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../audit/index.js';
import { CurrentActor, DashboardAuth } from '../auth/index.js';
import { invalidRequest } from '../core/errors/index.js';
import { ApiRefusal, cursorPage, idCursorFilter, PostOk } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import { ListUncertainPayoutsQuery, PayoutDecisions, ResolvePayoutDto } from '../payouts/index.js';
import { UncertainPayoutBody, UncertainPayoutListBody } from './dto/uncertain-payout.body.js';
import { uncertainPayoutBody } from './operations.serializer.js';

@ApiTags('Operators')
@DashboardAuth('OPERATOR')
@Controller('v1/operations/payouts')
export class OperationsPayoutsController {
  constructor(private readonly decisions: PayoutDecisions) {}

  @Get()
  @ApiOperation({
    summary: 'List payouts without an outcome',
    description:
      'Sent more than five minutes ago, and the bank reviews them, has not answered, or does not know them. Newest first.',
  })
  @ApiOkResponse({ description: 'A page.', type: UncertainPayoutListBody })
  async list(@Query() query: ListUncertainPayoutsQuery): Promise<UncertainPayoutListBody> {
    const filter = idCursorFilter(query);
    return cursorPage(await this.decisions.list(filter), filter.limit, uncertainPayoutBody, ({ id }) => id);
  }

  @PostOk(':id/resolve')
  @ApiOperation({
    summary: 'Say how a payout ended',
    description:
      'For one that the bank does not report, after looking at the bank’s own statement. `failed` gives the money back to the merchant: if the bank has sent it after all, it is lost.',
  })
  @ApiParam({ name: 'id', description: 'Id of the payout, bare.', schema: { type: 'string' } })
  @ApiOkResponse({ description: 'The payout.', type: UncertainPayoutBody })
  @ApiRefusal(409, {
    payout_not_uncertain: 'It has an end, or its time has not come.',
    payout_too_young: 'It may still be sent; the message says until when.',
  })
  async resolve(
    @Param('id') id: string,
    @Body() body: ResolvePayoutDto,
    @CurrentActor() actor: Actor,
  ): Promise<UncertainPayoutBody> {
    const { outcome, end_to_end_id: endToEndId, failure, reason } = body;
    const needless = outcome === 'paid' ? 'failure' : 'end_to_end_id';
    if (body[needless] !== undefined) {
      throw invalidRequest([{ param: needless, code: 'invalid', message: `must not be sent with ${outcome}` }]);
    }
    const decision = { outcome, endToEndId: endToEndId ?? null, failure: failure ?? null, reason };
    return uncertainPayoutBody(await this.decisions.resolve(parseId(id, ['po_'], 'payout'), decision, actor));
  }
}
