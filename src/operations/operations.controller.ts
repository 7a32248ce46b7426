import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../audit/index.js';
import { CurrentActor, CurrentUser, DashboardAuth, type UserPrincipal } from '../auth/index.js';
import { ApiRefusal, cursorPage, idCursorFilter, IdCursorQuery, cursorFilter, PostOk } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import { OperatorQueues } from '../core/operator-queues.js';
import { WorkService } from '../core/work/index.js';
import { LiveAcquirersService } from '../acquirers/index.js';
import { FraudHits } from '../fraud/index.js';
import { ReviewsService } from '../transactions/index.js';
import { WalletsService } from '../wallets/index.js';
import { ConnectionListBody } from './dto/connection.body.js';
import { FraudHitListBody } from './dto/fraud-hit.body.js';
import {
  ListNegativeBalancesQuery,
  ListReturnedQuery,
  ListReviewsQuery,
  ListWorkQuery,
  OfAccountQuery,
} from './dto/operations.query.js';
import { NegativeBalanceListBody } from './dto/negative-balance.body.js';
import { OperatorQueueListBody } from './dto/queue.body.js';
import { ReturnedListBody } from './dto/returned.body.js';
import { ReviewBody, ReviewListBody, UnmatchedPixListBody, UnreadableListBody } from './dto/review.body.js';
import { WorkListBody } from './dto/work.body.js';
import {
  connectionBody,
  fraudHitBody,
  negativeBalanceBody,
  negativeBalanceCursor,
  negativeBalanceOf,
  operatorQueueBody,
  returnedBody,
  reviewBody,
  unmatchedPixBody,
  unreadableBody,
  workBody,
} from './operations.serializer.js';
import { OperationsService } from './operations.service.js';

const REVIEW_ID = { name: 'id', description: 'Id of the review.', schema: { type: 'string' as const } };

@ApiTags('Operators')
@DashboardAuth('OPERATOR')
@Controller('v1/operations')
export class OperationsController {
  constructor(
    private readonly operations: OperationsService,
    private readonly reviews: ReviewsService,
    private readonly fraudHits: FraudHits,
    private readonly work: WorkService,
    private readonly acquirers: LiveAcquirersService,
    private readonly queues: OperatorQueues,
    private readonly wallets: WalletsService,
  ) {}

  @Get('queues')
  @ApiOperation({
    summary: 'Count what waits for operators',
    description: 'Of each list that somebody has to come back to: how much waits, and since when. In both modes.',
  })
  @ApiOkResponse({ description: 'All queues.', type: OperatorQueueListBody })
  async listOperatorQueues(): Promise<OperatorQueueListBody> {
    return { object: 'list', data: (await this.queues.list()).map(operatorQueueBody) };
  }

  @Get('connections')
  @ApiOperation({
    summary: 'List connections to PSPs',
    description:
      'Of all accounts, without their secrets: whose, at which PSP, in use, and until when the certificate holds. Newest first.',
  })
  @ApiOkResponse({ description: 'A page.', type: ConnectionListBody })
  async listConnections(@Query() query: OfAccountQuery): Promise<ConnectionListBody> {
    const filter = idCursorFilter(query);
    const page = await this.acquirers.page(query.account_id ?? null, filter);
    return cursorPage(page, filter.limit, connectionBody, ({ id }) => id);
  }

  @Get('reviews')
  @ApiOperation({
    summary: 'List payments that wait for a decision',
    description: 'Paid under a payer lock, but the bank did not say by whom: held, not credited. Newest first.',
  })
  @ApiOkResponse({ description: 'A page.', type: ReviewListBody })
  async listReviews(@Query() query: ListReviewsQuery): Promise<ReviewListBody> {
    const filter = { ...idCursorFilter(query), mode: query.mode ?? null };
    return cursorPage(await this.reviews.list(filter), filter.limit, reviewBody, (review) => review.id);
  }

  @PostOk('reviews/:id/accept')
  @ApiOperation({
    summary: 'Accept a held payment',
    description: 'The charge becomes paid and its money is credited. Repeating it changes nothing.',
  })
  @ApiParam(REVIEW_ID)
  @ApiOkResponse({ description: 'The review as decided.', type: ReviewBody })
  @ApiRefusal(409, { review_already_decided: 'It was returned, or the merchant has cancelled the charge.' })
  async acceptReview(
    @Param('id') id: string,
    @CurrentUser() { userId }: UserPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<ReviewBody> {
    return reviewBody(await this.operations.acceptReview(parseId(id, [], 'review'), userId, actor));
  }

  @PostOk('reviews/:id/return')
  @ApiOperation({
    summary: 'Return a held payment',
    description: 'The charge becomes refunded and a Pix return goes to the payer. Repeating it changes nothing.',
  })
  @ApiParam(REVIEW_ID)
  @ApiOkResponse({ description: 'The review as decided.', type: ReviewBody })
  @ApiRefusal(409, { review_already_decided: 'It was accepted, or the merchant has cancelled the charge.' })
  async returnReview(
    @Param('id') id: string,
    @CurrentUser() { userId }: UserPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<ReviewBody> {
    return reviewBody(await this.operations.returnReview(parseId(id, [], 'review'), userId, actor));
  }

  @Get('unmatched')
  @ApiOperation({
    summary: 'List Pix that match no charge',
    description:
      'Money that arrived and is nobody’s until somebody finds out whose, and what could not be sent back to its payer. Newest first.',
  })
  @ApiOkResponse({ description: 'A page.', type: UnmatchedPixListBody })
  async listUnmatched(@Query() query: IdCursorQuery): Promise<UnmatchedPixListBody> {
    const filter = idCursorFilter(query);
    return cursorPage(await this.reviews.unmatched(filter), filter.limit, unmatchedPixBody, (pix) => pix.id);
  }

  @Get('returned')
  @ApiOperation({
    summary: 'List payments that were sent back',
    description:
      'Late, double and wrong-amount Pix, and those of a payer whom the payer lock did not want, go back by themselves; here they are in every state, with what the bank has not accepted yet or has refused. Newest first.',
  })
  @ApiOkResponse({ description: 'A page.', type: ReturnedListBody })
  async listReturned(@Query() query: ListReturnedQuery): Promise<ReturnedListBody> {
    const { account_id, mode, reason, status } = query;
    const filter = {
      ...idCursorFilter(query),
      accountId: account_id ?? null,
      mode: mode ?? null,
      reason: reason ?? null,
      status: status === undefined ? null : (status.toUpperCase() as Uppercase<typeof status>),
    };
    return cursorPage(await this.reviews.returned(filter), filter.limit, returnedBody, (pix) => pix.id);
  }

  @Get('unreadable')
  @ApiOperation({
    summary: 'List what an acquirer has and nobody understands',
    description:
      'Told of, and confirmed by the acquirer in a form that cannot be read: nobody is credited before it can be. It is asked for again, without end. Newest first.',
  })
  @ApiOkResponse({ description: 'A page.', type: UnreadableListBody })
  async listUnreadable(@Query() query: IdCursorQuery): Promise<UnreadableListBody> {
    const filter = idCursorFilter(query);
    return cursorPage(await this.reviews.unreadable(filter), filter.limit, unreadableBody, ({ id }) => id);
  }

  @Get('negative-balances')
  @ApiOperation({
    summary: 'List wallets below zero',
    description:
      'A dispute or a correction has taken more than was available. Below zero nothing is refunded; the merchant is told by mail at once and every `negative_notice_days`. Longest first.',
  })
  @ApiOkResponse({ description: 'A page.', type: NegativeBalanceListBody })
  async listNegativeBalances(@Query() query: ListNegativeBalancesQuery): Promise<NegativeBalanceListBody> {
    const { limit } = cursorFilter(query);
    const after = query.starting_after === undefined ? null : negativeBalanceOf(query.starting_after);
    const negative = await this.wallets.negative({ limit, accountId: query.account_id ?? null, after });
    return cursorPage(negative, limit, negativeBalanceBody, negativeBalanceCursor);
  }

  @Get('work')
  @ApiOperation({
    summary: 'List work that is overdue',
    description:
      'What should have been done a minute ago or has failed and is tried again: refunds and other money on its way back, calls to acquirers about existing payments, mail, clean-up after uploads. Due longest first, one page.',
  })
  @ApiOkResponse({ description: 'A page.', type: WorkListBody })
  async listWork(@Query() query: ListWorkQuery): Promise<WorkListBody> {
    const { limit } = cursorFilter(query);
    const { object, data, has_more } = cursorPage(
      await this.work.overdue(query.kind ?? null, limit),
      limit,
      workBody,
      (item) => item.subject_id,
    );
    return { object, data, has_more };
  }

  @Get('fraud-hits')
  @ApiOperation({
    summary: 'List hits of the fraud guard',
    description: 'Of the last 30 days: what it refused, and in shadow mode would have refused. Newest first.',
  })
  @ApiOkResponse({ description: 'A page.', type: FraudHitListBody })
  async listFraudHits(@Query() query: OfAccountQuery): Promise<FraudHitListBody> {
    const filter = { ...idCursorFilter(query), accountId: query.account_id ?? null };
    return cursorPage(await this.fraudHits.list(filter), filter.limit, fraudHitBody, (hit) => hit.id);
  }
}
