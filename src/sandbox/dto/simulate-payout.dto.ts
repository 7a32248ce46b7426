import { ApiProperty } from '@nestjs/swagger';
import { SANDBOX_PAYOUT_EVENTS, type SandboxPayoutEvent } from '../../acquirers/index.js';
import { EnumOf, IsAmount, OptionalField, RequiredEnum } from '../../core/http/index.js';
import { MAX_AMOUNT } from '../../core/money/index.js';
import { PayoutBody } from '../../payouts/index.js';

/** Body of `POST /v1/sandbox/payouts/{id}/simulate`. */
export class SimulatePayoutDto {
  @RequiredEnum('What happens at the bank.', SANDBOX_PAYOUT_EVENTS, { example: 'return' })
  event!: SandboxPayoutEvent;

  @OptionalField({
    description: '`return`: cents that come back; default all that is left.',
    minimum: 1,
    maximum: MAX_AMOUNT,
    type: 'integer',
    example: 990,
  })
  @IsAmount()
  amount?: number;
}

export class SandboxPayoutEventBody {
  @EnumOf('Kind of object.', ['sandbox_event']) object!: 'sandbox_event';
  @EnumOf('What was made to happen.', SANDBOX_PAYOUT_EVENTS) event!: SandboxPayoutEvent;
  @ApiProperty({ description: 'The payout as it is now.', type: PayoutBody }) payout!: PayoutBody;
}
