import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  ApiKeyAuth,
  type ScopedCaller,
  AsksOthers,
  AuditedAtDoor,
  Costs,
  CurrentCaller,
  CurrentScope,
} from '../auth/index.js';
import { Draft } from '../core/errors/index.js';
import { ApiErrors, ApiRefusal, DraftBody, FRAUD_ERRORS, PostOk } from '../core/http/index.js';
import { Idempotent, type IdempotentAnswer, REPLAYED_HEADER } from '../core/idempotency/index.js';
import type { Scope } from '../core/mode.js';
import { TOTALS_DESCRIPTION, TOTALS_TOKENS } from '../core/totals.js';
import { InquiriesService } from '../transactions/index.js';
import { CreatePaymentDto } from './dto/create-payment.dto.js';
import { ListPaymentsQuery } from './dto/list-payments.query.js';
import {
  CancelledPaymentBody,
  PaymentBody,
  PaymentDetailBody,
  PaymentListBody,
  ProviderStatusBody,
  ReceiptBody,
} from './dto/payment.body.js';
import { PaymentTotalsBody } from './dto/payment-totals.body.js';
import { ResendWebhookBody } from './dto/resend-webhook.body.js';
import { PAYMENT_ID, paymentId } from './payment-id.js';
import { providerStatus, receiptBody } from './payment.serializer.js';
import { PaymentRequestsService } from './payment-requests.service.js';
import { PaymentsService } from './payments.service.js';

/** The cost of a list that is sorted by another field than the time of creation. */
const SORT_TOKENS = 10;
/** The cost of a resend, which makes a delivery for each endpoint and name of the event. */
const RESEND_TOKENS = 20;

@ApiTags('Payments')
@ApiKeyAuth()
@Controller('v1/payments')
export class PaymentsController {
  constructor(
    private readonly payments: PaymentsService,
    private readonly requests: PaymentRequestsService,
    private readonly inquiries: InquiriesService,
  ) {}

  @Post()
  @AuditedAtDoor('payment.created')
  @Idempotent('body')
  @ApiOperation({
    summary: 'Create a payment',
    description:
      'Answered at once; what the payer needs for each method appears on read within about three seconds, when the acquirer has made it. A method that the acquirer refuses stays null; when it refuses all of them the payment becomes REFUSED. A payment with PIX is also a charge. It can be paid until it expires: for BOLETO and MULTIBANCO at the end of the third day in São Paulo, otherwise after the account’s window, usually an hour.',
  })
  @ApiResponse({ status: 201, description: 'The payment, waiting.', type: PaymentBody, headers: REPLAYED_HEADER })
  @ApiErrors(...FRAUD_ERRORS, 'no_provider_configured')
  @ApiRefusal(422, { currency_limit_reached: 'The account has as many currencies in this mode as it may have.' })
  create(
    @CurrentCaller() { accountId, mode, account }: ScopedCaller,
    @DraftBody(CreatePaymentDto) draft: Draft<CreatePaymentDto>,
  ): Promise<IdempotentAnswer<PaymentBody>> {
    return this.requests.create({ accountId, mode }, account, draft);
  }

  @Get()
  @ApiOperation({
    summary: 'List payments',
    description: 'All transactions of the account in the key’s mode, charges too. A page past the end is empty.',
  })
  @ApiResponse({ status: 200, description: 'A page.', type: PaymentListBody })
  @Costs(({ sortBy = 'createdAt' }) => (sortBy === 'createdAt' || sortBy === 'id' ? 0 : SORT_TOKENS))
  list(@CurrentScope() scope: Scope, @Query() query: ListPaymentsQuery): Promise<PaymentListBody> {
    return this.payments.list(scope, query);
  }

  @Get('totals')
  @ApiOperation({ summary: 'Count payments', description: TOTALS_DESCRIPTION })
  @ApiResponse({ status: 200, description: 'Count and sums.', type: PaymentTotalsBody })
  @Costs(() => TOTALS_TOKENS)
  count(@CurrentScope() scope: Scope, @Query() query: ListPaymentsQuery): Promise<PaymentTotalsBody> {
    return this.payments.totals(scope, query);
  }

  @Get(':id')
  @ApiOperation({
    summary: 'Read a payment',
    description: 'With what the payer needs for each method. Learn of outcomes by webhook instead of polling.',
  })
  @ApiParam(PAYMENT_ID)
  @ApiResponse({ status: 200, description: 'The payment.', type: PaymentDetailBody })
  get(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<PaymentDetailBody> {
    return this.payments.get(scope, id);
  }

  @PostOk(':id/cancel')
  @AuditedAtDoor('payment.cancelled')
  @ApiOperation({
    summary: 'Cancel a payment',
    description:
      'While WAITING_PAYMENT, PENDING or PROCESSING; otherwise it is refused. Of this and a payment at the same moment one wins; money that comes after it goes back to the payer. Cancelling again changes nothing and gives the same answer, `previousStatus` included.',
  })
  @ApiParam(PAYMENT_ID)
  @ApiResponse({ status: 200, description: 'The cancelled payment.', type: CancelledPaymentBody })
  @ApiRefusal(400, { payment_not_cancellable: 'It was paid, or has another end.' })
  cancel(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<CancelledPaymentBody> {
    return this.payments.cancel(scope, id);
  }

  @Get(':id/provider-status')
  @AsksOthers()
  @ApiOperation({
    summary: 'Ask the acquirer about a payment',
    description:
      'Its state there at this moment. Questions within two seconds share one answer; nothing is kept longer. Changes nothing here.',
  })
  @ApiParam(PAYMENT_ID)
  @ApiResponse({ status: 200, description: 'The acquirer’s answer.', type: ProviderStatusBody })
  @ApiErrors('provider_unavailable')
  async getProviderStatus(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<ProviderStatusBody> {
    const { transaction, status } = await this.inquiries.status(scope, paymentId(id));
    return providerStatus(transaction, status);
  }

  @Get(':id/receipt')
  @AsksOthers()
  @ApiOperation({
    summary: 'Get the receipt of a payment',
    description: 'The acquirer’s own, as a PDF.',
  })
  @ApiParam(PAYMENT_ID)
  @ApiResponse({ status: 200, description: 'The receipt.', type: ReceiptBody })
  @ApiErrors('provider_unavailable')
  @ApiRefusal(422, { RECEIPT_NOT_AVAILABLE: 'The payment has not settled, or its acquirer gives no receipt.' })
  async getReceipt(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<ReceiptBody> {
    return receiptBody(await this.inquiries.receipt(scope, paymentId(id)));
  }

  @PostOk(':id/resend-webhook')
  @AuditedAtDoor('payment.webhook_resent')
  @Costs(() => RESEND_TOKENS)
  @ApiOperation({
    summary: 'Send the webhook of the current status again',
    description:
      'Works for charges too. The event of the status that the payment has now goes to everybody who is subscribed now, under each of its names, as new deliveries (with new `X-Service-Delivery-Id`s). It is the same business event, with the same `id` and `sequence`; its content is what a read of the payment would show now. A status without an event of its own in a family (PROCESSING, a Pix in DISPUTE, a refunded charge in `charge.*`) is told by the family’s last event before it.\n\n**A resend of a disputed or refunded sale repeats `charge.paid` with its present status inside**, so an endpoint that was registered later sees `charge.paid` for the first time then: go by `data.object.status`. A payment that is still being created (PENDING) has no event yet, so there is nothing to send: `resent` is false, and its first event follows by itself.',
  })
  @ApiParam(PAYMENT_ID)
  @ApiResponse({ status: 200, description: 'What was sent, and whether to anybody.', type: ResendWebhookBody })
  resendWebhook(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<ResendWebhookBody> {
    return this.payments.resendWebhook(scope, id);
  }
}
