import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../audit/index.js';
import { ApiKeyAuth, type ScopedCaller, CurrentCaller, CurrentScope, CurrentActor } from '../auth/index.js';
import { ApiErrors, ApiRefusal, cursorPage, FRAUD_ERRORS, idCursorFilter } from '../core/http/index.js';
import { Idempotent, type IdempotentAnswer, REPLAYED_HEADER } from '../core/idempotency/index.js';
import type { Scope } from '../core/mode.js';
import { RefundsService } from '../transactions/index.js';
import { ListRefundsQuery } from './dto/list-refunds.query.js';
import { AllRefundsListBody, RefundBody, RefundListBody } from './dto/refund.body.js';
import { RefundDto } from './dto/refund.dto.js';
import { PAYMENT_ID, paymentId } from './payment-id.js';
import { PaymentRequestsService } from './payment-requests.service.js';
import { refundItem, refundList } from './refund.serializer.js';

@ApiTags('Payments')
@ApiKeyAuth()
@Controller('v1')
export class RefundsController {
  constructor(
    private readonly refunds: RefundsService,
    private readonly requests: PaymentRequestsService,
  ) {}

  @Post('payments/:id/refund')
  @Idempotent('body')
  @ApiOperation({
    summary: 'Refund a payment',
    description:
      'In full or in part. The amount is debited from the available balance at once and in full, whatever fees the payment had; it comes back when the refund fails. Refunds advance by themselves: `payment.refunded` tells of each step.',
  })
  @ApiParam(PAYMENT_ID)
  @ApiResponse({ status: 201, description: 'The refund, accepted.', type: RefundBody, headers: REPLAYED_HEADER })
  @ApiErrors(...FRAUD_ERRORS)
  @ApiRefusal(400, {
    payment_not_refundable: 'The payment is not PAID or APPROVED.',
    charge_disputed: 'The payer disputes the payment.',
    refund_amount_exceeds_remaining: 'The amount is more than is left to refund.',
  })
  @ApiRefusal(422, {
    insufficient_balance: 'The available balance is below the amount.',
    REFUND_NOT_SUPPORTED: 'The provider does not refund payments of this method.',
    REFUND_STRATEGY_NOT_SUPPORTED: 'The connection cannot do this `strategy`.',
    refund_limit_reached: 'The payment has a thousand refunds.',
  })
  create(
    @CurrentCaller() { accountId, mode, account }: ScopedCaller,
    @Param('id') id: string,
    @Body() dto: RefundDto,
    @CurrentActor() actor: Actor,
  ): Promise<IdempotentAnswer<RefundBody>> {
    return this.requests.refund({ accountId, mode }, { account, actor }, id, dto);
  }

  @Get('payments/:id/refunds')
  @ApiOperation({ summary: 'List the refunds of a payment', description: 'All of them, newest first.' })
  @ApiParam(PAYMENT_ID)
  @ApiResponse({ status: 200, description: 'The refunds.', type: RefundListBody })
  async listPaymentRefunds(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<RefundListBody> {
    return refundList(await this.refunds.list(scope, paymentId(id)));
  }

  @Get('refunds')
  @ApiOperation({
    summary: 'List refunds',
    description: 'Of all payments of the account in the key’s mode, newest first.',
  })
  @ApiResponse({ status: 200, description: 'A page.', type: AllRefundsListBody })
  async listRefunds(@CurrentScope() scope: Scope, @Query() query: ListRefundsQuery): Promise<AllRefundsListBody> {
    const filter = { ...idCursorFilter(query), status: query.status ?? null };
    return cursorPage(await this.refunds.listAll(scope, filter), filter.limit, refundItem, (refund) => refund.id);
  }
}
