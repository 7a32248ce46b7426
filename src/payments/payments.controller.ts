import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth, CurrentScope } from '../auth/index.js';
import { ApiErrors, ApiRequestId, RESPONSE_HEADERS } from '../core/http/index.js';
import type { Scope } from '../core/mode.js';
import { ResendWebhookSchema } from './dto/resend-webhook.body.js';
import { PaymentsService, type ResendBody } from './payments.service.js';

@ApiTags('Payments')
@ApiKeyAuth()
@ApiRequestId()
@Controller('v1/payments')
export class PaymentsController {
  constructor(private readonly payments: PaymentsService) {}

  @Post(':id/resend-webhook')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Send the webhook of the current status again',
    description:
      'Works for charges too. The event of the status that the payment has now goes to everybody who is subscribed now, under each of its names, as new deliveries (with new `X-Service-Delivery-Id`s). It is the same business event, with the same `id` and `sequence`; its content is what a read of the payment would show now.',
  })
  @ApiParam({ name: 'id', description: '`<uuid>`, `tx_<uuid>` or `ch_<uuid>`.', schema: { type: 'string' } })
  @ApiResponse({
    status: 200,
    description: 'What was sent, and whether to anybody.',
    type: ResendWebhookSchema,
    headers: RESPONSE_HEADERS,
  })
  @ApiErrors(404)
  resendWebhook(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<ResendBody> {
    return this.payments.resendWebhook(scope, id);
  }
}
