import { Body, Controller, Param } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth, CurrentScope, TestKeysOnly } from '../auth/index.js';
import { PostOk } from '../core/http/index.js';
import type { Scope } from '../core/mode.js';
import { PaymentsService } from '../payments/index.js';
import { SandboxEventBody, SandboxPaymentEventBody } from './dto/simulate.body.js';
import { SimulateDto } from './dto/simulate.dto.js';
import { SandboxService } from './sandbox.service.js';

@ApiTags('Sandbox')
@ApiKeyAuth()
@TestKeysOnly()
@Controller('v1/sandbox')
export class SandboxController {
  constructor(
    private readonly sandbox: SandboxService,
    private readonly payments: PaymentsService,
  ) {}

  @PostOk('charges/:id/simulate')
  @ApiOperation({
    summary: 'Make something happen to a test charge',
    description: 'Goes the way of a real acquirer’s notification; works on every payment too. A live key gets 404.',
  })
  @ApiParam({ name: 'id', description: '`ch_<uuid>` or the bare `<uuid>`.', schema: { type: 'string' } })
  @ApiResponse({ status: 200, description: 'The state after it.', type: SandboxEventBody })
  simulateCharge(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() dto: SimulateDto,
  ): Promise<SandboxEventBody> {
    return this.sandbox.simulate(scope, id, dto);
  }

  @PostOk('payments/:id/simulate')
  @ApiOperation({
    summary: 'Make something happen to a test payment',
    description: 'As for a charge, answering with the payment.',
  })
  @ApiParam({ name: 'id', description: '`<uuid>`, `tx_<uuid>` or `ch_<uuid>`.', schema: { type: 'string' } })
  @ApiResponse({ status: 200, description: 'The state after it.', type: SandboxPaymentEventBody })
  async simulatePayment(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() dto: SimulateDto,
  ): Promise<SandboxPaymentEventBody> {
    await this.sandbox.simulatePayment(scope, id, dto);
    return { object: 'sandbox_event', event: dto.event, payment: await this.payments.get(scope, id) };
  }
}
