import { ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { EnumOf, Integer, NullableText, NullableTime, Text } from '../../core/http/index.js';

export class ChargeEventPaymentBody {
  @NullableTime('When the charge was paid, UTC.') paid_at!: string | null;
  @Integer('Amount that was paid, smallest unit.', 1990) amount!: number;
  @Integer('Fees of acquirer and platform together, smallest unit.', 25) fee!: number;
  @ApiProperty({ description: 'Amount without fees.', type: 'integer', nullable: true, example: 1965 })
  net_amount!: number | null;
  @NullableText('Method, in lower case.', 'pix') method!: string | null;
}

/** Fields beside `object` in `data` of `charge.paid`. */
export class ChargePaidDataBody {
  @ApiProperty({ description: 'Amounts of money, which a charge itself does not have.', type: ChargeEventPaymentBody })
  payment!: ChargeEventPaymentBody;
}

export class ChargeEventRefundBody {
  @Text('Id of the refund.', '019aa0f0-9a01-7b8c-8d2e-5f6071829304') id!: string;
  @EnumOf('Kind of object.', ['refund']) object!: 'refund';
  @Integer('Amount of the refund, smallest unit.', 990) amount!: number;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @Text('Status of the refund.', 'REFUNDED') status!: string;
  @NullableText('As the merchant supplied it.', 'Article returned') reason!: string | null;
}

/** Fields beside `object` in `data` of `charge.refunded`. */
export class ChargeRefundedDataBody {
  @ApiProperty({ description: 'The refund that is done.', type: ChargeEventRefundBody }) refund!: ChargeEventRefundBody;
  @Integer('Sum of the refunds of the charge, smallest unit.', 990) amount_refunded!: number;
}

/** Fields beside `object` in `data` of `charge.disputed`. */
export class ChargeDisputedDataBody {
  @ApiPropertyOptional({
    description: 'The case that disputes the charge; missing in events of an earlier version.',
    allOf: [{ $ref: getSchemaPath('MedCaseBody') }],
  })
  case?: object;
}
