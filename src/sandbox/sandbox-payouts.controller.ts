import { Body, Controller, Param } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { SandboxAcquirer } from '../acquirers/index.js';
import { ApiKeyAuth, CurrentScope, TestKeysOnly } from '../auth/index.js';
import { PostOk } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { PayoutsService, sendIdOf } from '../payouts/index.js';
import { SandboxPayoutEventBody, SimulatePayoutDto } from './dto/simulate-payout.dto.js';

@ApiTags('Sandbox')
@ApiKeyAuth()
@TestKeysOnly()
@Controller('v1/sandbox')
export class SandboxPayoutsController {
  constructor(
    private readonly payouts: PayoutsService,
    private readonly sandbox: SandboxAcquirer,
  ) {}

  @PostOk('payouts/:id/simulate')
  @ApiOperation({
    summary: 'Make something happen to a test payout',
    description:
      'Without it a payout is paid after a second. `fail` of a paid payout is a bank that takes its word back. Goes the way of a real bank’s notification, so the payout moves a moment later. A live key gets 404.',
  })
  @ApiParam({ name: 'id', description: '`po_<uuid>` or the bare `<uuid>`.', schema: { type: 'string' } })
  @ApiResponse({ status: 200, description: 'The payout as it is now.', type: SandboxPayoutEventBody })
  async simulate(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() dto: SimulatePayoutDto,
  ): Promise<SandboxPayoutEventBody> {
    const payoutId = parseId(id, ['po_'], 'payout');
    const { amount } = await this.payouts.get(scope, payoutId);
    const name = { accountId: scope.accountId, sendId: sendIdOf(payoutId) };
    await this.sandbox.payouts.simulate(name, dto.event, amount, dto.amount ?? null);
    return { object: 'sandbox_event', event: dto.event, payout: await this.payouts.get(scope, payoutId) };
  }
}
