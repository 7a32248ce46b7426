import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, NullableText, Text, Time } from '../../core/http/index.js';
import { PaymentItemBody } from '../../payments/index.js';

export class CustomerTotalsBody {
  @Text('Currency code.', 'BRL') currency!: string;
  @Integer('Sales that were paid.', 3) sales!: number;
  @Integer('Their sum.', 15_000) amount_paid!: number;
  @Integer('The sum of their refunds that have not failed.', 5_000) amount_refunded!: number;
  @Integer('The sum that disputes hold or have taken.', 0) amount_disputed!: number;
}

export class CustomerBody {
  @Text('`cus_<uuid>`, made of the first sale that was paid.', 'cus_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @EnumOf('Kind of object.', ['customer']) object!: 'customer';
  @NullableText('Of the newest paid sale, as are the next three.', 'Maria da Silva') name!: string | null;
  @NullableText('CPF, CNPJ or another tax id.', '52998224725') tax_id!: string | null;
  @NullableText('E-mail.', 'maria@example.com') email!: string | null;
  @NullableText('Phone.', '+5511987654321') phone!: string | null;
  @Time('Time of the first payment.') first_paid_at!: string;
  @Time('Time of the newest payment.') last_paid_at!: string;
  @ApiProperty({ description: 'By currency; amounts in its smallest unit.', type: [CustomerTotalsBody] })
  totals!: CustomerTotalsBody[];
  @ApiProperty({
    description:
      'False when the customer may have more sales than were added up: the newest 1 000 in a list, 100 000 of one.',
  })
  is_complete!: boolean;
}

export class CustomerListBody extends CursorListOf(CustomerBody) {}

export class CustomerPaymentListBody extends CursorListOf(PaymentItemBody, 'tx_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') {}

const ROWS = { type: 'array' as const, items: { type: 'object', additionalProperties: true } };

export class CustomerExportBody {
  @EnumOf('Kind of object.', ['customer_export']) object!: 'customer_export';
  @ApiProperty({ description: 'Sales with everything about the person, oldest first.', ...ROWS })
  transactions!: object[];
  @ApiProperty({ description: 'Payouts to the person.', ...ROWS }) payouts!: object[];
  @ApiProperty({ description: 'Saved destinations of the person.', ...ROWS }) payout_destinations!: object[];
}

export class CustomerWaitingBody {
  @EnumOf('Kind of object.', ['transaction', 'payout']) kind!: string;
  @Text('Its UUID.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @Text('Why it still needs the data: erase again later.', 'open_med_case') reason!: string;
}

export class CustomerErasureBody {
  @EnumOf('Kind of object.', ['customer_erasure']) object!: 'customer_erasure';
  @ApiProperty({
    description: 'Changed rows, by table.',
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { transactions: 3 },
  })
  erased!: Record<string, number>;
  @ApiProperty({ description: 'Sales and payouts that cannot be erased yet, and why.', type: [CustomerWaitingBody] })
  waiting!: CustomerWaitingBody[];
}
