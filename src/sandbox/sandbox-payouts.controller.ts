import { Body, Controller, Param } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { SandboxAcquirer, type SandboxPayoutEvent } from '../acquirers/index.js';
import { ApiKeyAuth, CurrentScope, TestKeysOnly } from '../auth/index.js';
import { invalidRequest } from '../core/errors/index.js';
import { PostOk } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { type PayoutBody, PayoutsService, sendIdOf } from '../payouts/index.js';
import { SandboxPayoutEventBody, SimulatePayoutDto } from './dto/simulate-payout.dto.js';

const BEFORE_THE_END: readonly SandboxPayoutEvent[] = ['pay', 'fail', 'return', 'unknown', 'review', 'resolve'];

/** Events that can happen to a payout of a status. `pay` and `resolve` of a paid one change nothing, so they are allowed. */
const POSSIBLE: Readonly<Record<PayoutBody['status'], readonly SandboxPayoutEvent[]>> = {
  pending: BEFORE_THE_END,
  processing: BEFORE_THE_END,
  paid: ['pay', 'resolve', 'fail', 'return'],
  failed: [],
  cancelled: [],
  refunded: [],
};

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
      'Without it a payout is paid after a second. `fail` of a paid payout is a bank that takes its word back. An event that cannot happen to the payout any more is a 400. Goes the way of a real bank’s notification, so the payout moves a moment later. A live key gets 404.',
  })
  @ApiParam({ name: 'id', description: '`po_<uuid>` or the bare `<uuid>`.', schema: { type: 'string' } })
  @ApiResponse({ status: 200, description: 'The payout as it is now.', type: SandboxPayoutEventBody })
  async simulatePayout(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() dto: SimulatePayoutDto,
  ): Promise<SandboxPayoutEventBody> {
    const payoutId = parseId(id, ['po_'], 'payout');
    const { amount, status } = await this.payouts.get(scope, payoutId);
    assertPossible(dto, status);
    const name = { accountId: scope.accountId, sendId: sendIdOf(payoutId) };
    await this.sandbox.payouts.simulate(name, dto.event, amount, dto.amount ?? null);
    return { object: 'sandbox_event', event: dto.event, payout: await this.payouts.get(scope, payoutId) };
  }
}

/** @throws ApiError 400 */
function assertPossible({ event, amount }: SimulatePayoutDto, status: PayoutBody['status']): void {
  const violations = [];
  if (!POSSIBLE[status].includes(event)) {
    violations.push({ param: 'event', code: 'invalid', message: `cannot happen to a payout that is ${status}` });
  }
  if (amount !== undefined && event !== 'return') {
    violations.push({ param: 'amount', code: 'invalid', message: 'must be sent with return only' });
  }
  if (violations.length > 0) throw invalidRequest(violations);
}
