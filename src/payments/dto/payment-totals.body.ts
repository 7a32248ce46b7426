import { ApiProperty } from '@nestjs/swagger';
import { Integer } from '../../core/http/index.js';
import { CurrencyTotalBody, MAX_COUNTED, TotalsBody } from '../../core/totals.js';

export class PaidTotalBody {
  @Integer('How many were paid at some time; refunded and disputed ones count too.', 28) count!: number;
  @Integer('The sum of their amounts before refunds, in the smallest unit.', 98700) amount!: number;
}

export class PaymentCurrencyTotalBody extends CurrencyTotalBody {
  @ApiProperty({ description: 'Those that were paid.', type: PaidTotalBody }) paid!: PaidTotalBody;
}

export class PaymentTotalsBody extends TotalsBody {
  @ApiProperty({
    description: `By currency; empty where there are more than ${MAX_COUNTED}.`,
    type: [PaymentCurrencyTotalBody],
  })
  declare amounts: PaymentCurrencyTotalBody[];
}
